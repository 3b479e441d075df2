import { type RouteDeps, toOperatorQuestions } from '../../api/extension.js';
import type { Caller } from '../../ai-sdk/index.js';
import { legSpan } from '../../protocol/telemetry.js';
import { rootOf, sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import type { OperatorCall, OperatorRun, OperatorRunDetail } from '../../protocol/operator.js';
import type { AssistantRow, Decision, Row, ToolRow } from '../../protocol/rows.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { isOfTenant } from '../../store/record/questions.js';
import type { ListedRun } from './run-list.js';

/**
 * Shows a listed run, with the status of the record if it is the newest. Empty for another
 * tenant's: Temporal does not know the tenant of a run without search attributes.
 */
export async function toOperatorRun(
  { stateStore: { sessions } }: Pick<RouteDeps, 'stateStore'>,
  { tenantId }: Pick<Caller, 'tenantId'>,
  run: ListedRun,
): Promise<OperatorRun[]> {
  const sessionId = sessionOfRun(run.runId);
  const root = rootOf(sessionId);
  const record = await sessions.read(sessionId);
  const conversation = root === sessionId ? record : await sessions.read(root);
  if (conversation !== undefined && !isOfTenant(conversation, tenantId)) return [];
  const status = record?.runId === run.runId ? record.status : run.status;
  const owner = conversation && { owner: conversation.owner };
  return [{ ...run, status, ...owner, ...toPlace(sessionId) }];
}

/** Returns the run's conversation, and marks a sub-agent's run. */
function toPlace(sessionId: string): Pick<OperatorRun, 'sessionId' | 'subAgent'> {
  const root = rootOf(sessionId);
  const shown = { sessionId: toShownSessionId(root) };
  return root === sessionId ? shown : { ...shown, subAgent: true };
}

/**
 * @param conversation of the run, or of its root
 * @returns undefined if there is no such run
 */
export async function readRunDetail(
  deps: RouteDeps,
  caller: Caller,
  conversation: SessionRecord,
  runId: string,
): Promise<OperatorRunDetail | undefined> {
  const { sessions, runs } = deps.stateStore;
  const sessionId = sessionOfRun(runId);
  const found = await sessions.withCalls(sessionId);
  if (found === undefined) return undefined;
  const info = (await runs.list(sessionId)).find((run) => run.runId === runId);
  if (info === undefined) return undefined;
  const { record, openCalls } = found;
  const { status, turn, mode, stepCount, startedAt, endedAt, by, reason, error, usage } = info;
  const isNewest = record.runId === runId;
  const rows = info.rewound === true ? [] : await sessions.rows(sessionId, info.startRow);
  const isAsked = isNewest && sessionId === conversation.sessionId;
  return {
    runId,
    ...toPlace(sessionId),
    agent: record.agent,
    owner: conversation.owner,
    status,
    turn,
    mode,
    stepCount,
    startedAt,
    endedAt,
    by,
    reason,
    isNewest: isNewest && sessionId === conversation.sessionId,
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(usage !== undefined && {
      usage: {
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        costMicroUsd: usage.costMicroUsd,
      },
    }),
    steps: toSteps(runId, rows, isNewest ? openCalls : []),
    pending: isAsked ? await toOperatorQuestions(deps, caller, { record, openCalls }) : [],
    traceUrl: toTraceUrl(deps, runId),
  };
}

/**
 * Returns the trace of the first leg, which links to the next; sub-agents use their root's trace.
 */
function toTraceUrl({ tracer }: Pick<RouteDeps, 'tracer'>, runId: string): string | undefined {
  const sessionId = sessionOfRun(runId);
  if (rootOf(sessionId) !== sessionId) return undefined;
  const { trace } = legSpan({ runId, rootRunId: runId, number: 1 });
  return tracer?.urlOf({ trace, runId, sessionId: toShownSessionId(sessionId) });
}

/** Lists a run's steps with the outcomes of their calls. */
function toSteps(
  runId: string,
  rows: readonly Row[],
  openCalls: readonly OpenCall[],
): OperatorRunDetail['steps'] {
  const results = new Map<string, ToolRow>();
  for (const row of rows) if (row.role === 'tool') results.set(row.toolCallId, row);
  for (const part of rows.flatMap((row) => (row.role === 'assistant' ? row.parts : []))) {
    if (part.type !== 'tool-result') continue;
    const { toolCallId, toolName, isError } = part;
    const failure = isError === true ? { error: '' } : {};
    results.set(toolCallId, { role: 'tool', toolCallId, toolName, ...failure });
  }
  const open = new Map(openCalls.map((call) => [call.spec.toolCallId, call]));
  const isOwn = (row: Row): row is AssistantRow =>
    row.role === 'assistant' && row.runId === runId && row.display !== true;
  return rows.filter(isOwn).map(({ step, parts }) => ({
    step,
    calls: parts.flatMap((part): OperatorCall[] => {
      if (part.type !== 'tool-call') return [];
      const { toolCallId, toolName, kind } = part;
      const call = open.get(toolCallId);
      const settled = call?.row?.role === 'tool' ? call.row : results.get(toolCallId);
      const decision = settled?.decision ?? call?.decision;
      return [
        {
          toolCallId,
          toolName,
          kind,
          state: toState(settled, call),
          ...(settled?.errorCode !== undefined && { errorCode: settled.errorCode }),
          ...(decision !== undefined && { decision: toDecision(decision) }),
        },
      ];
    }),
  }));
}

function toState(settled: ToolRow | undefined, call: OpenCall | undefined): OperatorCall['state'] {
  if (settled === undefined) return call?.state === 'waiting' ? 'waiting' : 'open';
  if (settled.denied === true) return 'denied';
  return settled.error === undefined ? 'done' : 'failed';
}

function toDecision(decision: Decision): NonNullable<OperatorCall['decision']> {
  const { approved, at, by, reason, input, automatic } = decision;
  return {
    approved,
    at,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { edited: true }),
    ...(automatic === true && { automatic }),
  };
}

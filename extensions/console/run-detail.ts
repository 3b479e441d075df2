import { type RouteDeps, toOperatorQuestions } from '../../api/extension.js';
import type { Caller } from '../../ai-sdk/index.js';
import type { LogEntry } from '../../protocol/chunk.js';
import { rootOf, sessionOfRun, toShownSessionId } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type {
  OperatorCall,
  OperatorEvents,
  OperatorRun,
  OperatorRunDetail,
  OperatorStep,
} from '../../protocol/operator.js';
import type { AssistantPart, AssistantRow, Decision, Row, ToolRow } from '../../protocol/rows.js';
import { legSpan } from '../../protocol/telemetry.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { RunInfo } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { firstRowOf } from '../../store/record/first-row.js';
import { isOfTenant } from '../../store/record/ownership.js';
import type { ListedRun } from './run-list.js';

type Deps = Pick<RouteDeps, 'stateStore'>;

/** Finds a run among those of its session; undefined if the record has no such run. */
async function findRun(
  { stateStore: { runs } }: Deps,
  runId: string,
): Promise<{ run: RunInfo; all: RunInfo[] } | undefined> {
  const all = await runs.list(sessionOfRun(runId));
  const run = all.find((each) => each.runId === runId);
  return run && { run, all };
}

/**
 * Shows a listed run, with the status of the record if it is the newest. Empty for another
 * tenant's: Temporal does not know the tenant of a run without search attributes.
 */
export async function toOperatorRun(
  { stateStore: { sessions } }: Deps,
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
 * Returns a run, or undefined if there is none.
 *
 * @param conversation the conversation of the run, or of its root
 */
export async function readRunDetail(
  deps: RouteDeps,
  caller: Caller,
  conversation: SessionRecord,
  runId: string,
): Promise<OperatorRunDetail | undefined> {
  const { sessions } = deps.stateStore;
  const sessionId = sessionOfRun(runId);
  const found = await sessions.withCalls(sessionId);
  if (found === undefined) return undefined;
  const listed = await findRun(deps, runId);
  if (listed === undefined) return undefined;
  const { run, all } = listed;
  const { record, openCalls } = found;
  const { status, turn, mode, stepCount, startedAt, endedAt, by, reason, error, usage } = run;
  const isNewest = record.runId === runId;
  const rows = run.rewound === true ? [] : await sessions.rows(sessionId, firstRowOf(run, all));
  // People are asked by the newest run of the conversation itself.
  const mayAsk = isNewest && sessionId === conversation.sessionId;
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
    isNewest: mayAsk,
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(usage !== undefined && {
      usage: {
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        costMicroUsd: usage.costMicroUsd,
      },
    }),
    steps: toSteps(runId, rows, isNewest ? openCalls : []),
    pending: mayAsk ? await toOperatorQuestions(deps, caller, { record, openCalls }) : [],
    traceUrl: toTraceUrl(deps, runId),
  };
}

/** Returns the trace of the first leg, which links to the next; sub-agents use their root's trace. */
function toTraceUrl({ tracer }: Pick<RouteDeps, 'tracer'>, runId: string): string | undefined {
  const sessionId = sessionOfRun(runId);
  if (rootOf(sessionId) !== sessionId) return undefined;
  const { trace } = legSpan({ runId, rootRunId: runId, number: 1 });
  return tracer?.urlOf({ trace, runId, sessionId: toShownSessionId(sessionId) });
}

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

const PROMPT_CHARS = 4_000;

/** Reads the texts and calls of a step; undefined if the run has no such step any more. */
export async function readStep(
  deps: Deps,
  runId: string,
  step: number,
): Promise<OperatorStep | undefined> {
  const { sessions } = deps.stateStore;
  const sessionId = sessionOfRun(runId);
  const session = await sessions.withCalls(sessionId);
  if (session === undefined) return undefined;
  const found = await findRun(deps, runId);
  if (found === undefined) return undefined;
  const { run, all } = found;
  const later = all.filter(({ turn, rewound }) => turn > run.turn && rewound !== true);
  const endRow = later.length === 0 ? undefined : Math.min(...later.map((each) => each.startRow));
  const firstRow = firstRowOf(run, all);
  const rows = await sessions.rows(sessionId, firstRow, endRow);
  const turnAt = run.startRow - firstRow;
  const at = rows.findIndex(
    (each) =>
      each.role === 'assistant' && each.runId === runId && each.step === step && !each.display,
  );
  const row = rows[at];
  if (row?.role !== 'assistant') return undefined;
  const settled = session.openCalls.flatMap(({ row: result }) => result ?? []);
  const results = new Map(
    [...rows, ...settled].flatMap((each) =>
      each.role === 'tool' ? [[each.toolCallId, each] as const] : [],
    ),
  );
  const texts = (type: 'text' | 'reasoning'): string =>
    row.parts.flatMap((part) => (part.type === type ? part.text : [])).join('');
  return {
    step,
    agent: session.record.agent,
    prompt: toPrompt(rows.slice(at < turnAt ? 0 : turnAt, at)),
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: row.parts.flatMap((part) => (part.type === 'tool-call' ? toCall(part, results) : [])),
  };
}

/** Joins the newest messages of people. */
function toPrompt(rows: readonly Row[]): string {
  const end = rows.findLastIndex((row) => row.role === 'user' && row.hidden !== true) + 1;
  const others = rows.slice(0, end).findLastIndex(({ role }) => role !== 'user');
  const texts = rows
    .slice(others + 1, end)
    .flatMap((row) =>
      row.role === 'user' && row.hidden !== true
        ? row.parts.flatMap((part) => (part.type === 'text' ? part.text : []))
        : [],
    );
  return texts.join('\n').slice(0, PROMPT_CHARS).toWellFormed();
}

function toCall(
  { toolCallId, toolName, input }: Extract<AssistantPart, { type: 'tool-call' }>,
  results: ReadonlyMap<string, ToolRow>,
): OperatorStep['calls'][number] {
  const { output, error, denied, decision } = results.get(toolCallId) ?? {};
  const changed = decision?.input;
  return {
    toolCallId,
    toolName,
    input,
    ...(changed !== undefined && { changedInput: changed }),
    ...(output !== undefined && { output }),
    ...(denied === true && { error: decision?.reason ?? 'Denied.' }),
    ...(error !== undefined && { error }),
  };
}

const PAGE_BYTES = LIMITS.answerBytes;

/**
 * Reads a page of the log entries of a run's turn, as long as the log keeps them.
 *
 * @param conversation of the run, or of its root
 * @returns undefined if there is no such run
 */
export async function readEvents(
  deps: Pick<RouteDeps, 'stateStore' | 'streamManager'>,
  conversation: SessionRecord,
  runId: string,
  query: { after: number; limit: number },
): Promise<OperatorEvents | undefined> {
  const found = await findRun(deps, runId);
  if (found === undefined) return undefined;
  const { run, all } = found;
  const later = all.filter(({ turn, startSequence }) => turn > run.turn && startSequence > 0);
  const end = Math.min(Infinity, ...later.map(({ startSequence }) => startSequence));
  const after = Math.max(query.after, run.startSequence);
  const { sessionId } = conversation;
  const entries = await deps.streamManager.read(sessionId, after, query.limit);
  const page = cut(entries.filter(({ sequence }) => sequence <= end));
  const isLast = entries.length < query.limit && page.length === entries.length;
  const last = page.at(-1)?.sequence;
  const next = isLast || last === end ? undefined : last;
  const agentId = sessionOfRun(runId);
  const events =
    agentId === sessionId
      ? page
      : page.filter(({ message }) => 'agentId' in message && message.agentId === agentId);
  return { events, ...(next !== undefined && { next }) };
}

/** Returns the entries that fit into a page, at least one. */
function cut(entries: LogEntry[]): LogEntry[] {
  let bytes = 0;
  const end = entries.findIndex(({ message }) => {
    bytes += Buffer.byteLength(JSON.stringify(message));
    return bytes > PAGE_BYTES;
  });
  return end < 0 ? entries : entries.slice(0, Math.max(1, end));
}

import {
  decides,
  requireAddressable,
  requireAllowed,
  type Action,
  type Caller,
} from '../ai-sdk/index.js';
import type { OperatorBatchBody, OperatorBatchPlan } from '../protocol/batch.js';
import type { BatchAct, BatchItem, BatchProblem } from '../protocol/batch-run.js';
import { HelixError } from '../protocol/errors.js';
import {
  formatApprovalId,
  isStreamId,
  rootOf,
  sessionOfRun,
  toShownSessionId,
} from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal, type RunStatus } from '../protocol/run.js';
import { hashInput, isAsShown } from '../protocol/shown-call.js';
import type { SessionCalls, SessionRecord } from '../stores/contract/sessions.js';
import { isOfTenant } from '../stores/record/waiting-page.js';
import type { RouteDeps } from './deps.js';
import { listRuns } from './list-runs.js';

/** What a batch acts on, and what it may not act on. */
export interface BatchTargets {
  items: BatchItem[];
  shown: OperatorBatchPlan['targets'];
  problems: BatchProblem[];
}

/** The action that each act is, in conversations of others. */
export const ACTION_OF: Record<BatchAct, Action> = {
  stop: 'stop',
  retry: 'retry',
  approve: 'answer',
  deny: 'answer',
};

const PAGE = LIMITS.operatorPage;
const READS_AT_ONCE = 10;
/** Of an input on the list of a dry run. */
const INPUT_CHARS = 200;

type Asked = Pick<OperatorBatchBody, 'act' | 'filter' | 'targets' | 'dryRun'>;
interface Named {
  runId: string;
  toolCallId?: string | undefined;
  inputHash?: string | undefined;
}

/**
 * Finds what a batch acts on, within the tenant, and decides about each item as about a single act:
 * `authorize` and, for answers, what the tool demands of its approver. Runs and calls to which the act
 * does not apply are left out; Temporal may list them late.
 *
 * @throws HelixError `invalid_query`, `validation_error` for more than a batch may have, or `unavailable`
 * while a rule does not answer
 */
export async function findBatchTargets(
  deps: RouteDeps,
  caller: Caller,
  { act, filter, targets, dryRun }: Asked,
): Promise<BatchTargets> {
  const named = targets ?? (await findRuns(deps, caller, act, filter));
  const found: BatchTargets = { items: [], shown: [], problems: [] };
  const seen = new Set<string>();
  for (let at = 0; at < named.length; at += READS_AT_ONCE) {
    const page = named.slice(at, at + READS_AT_ONCE);
    const judged = await Promise.all(
      page.map((one) => judge(deps, caller, act, one, { tool: filter?.tool, dryRun })),
    );
    for (const { item, shown, refused } of judged.flat()) {
      const target = nameOf(item);
      if (seen.has(target)) continue;
      seen.add(target);
      if (refused === undefined) {
        found.items.push(item);
        found.shown.push(shown);
      } else found.problems.push({ target, code: refused });
    }
    if (found.items.length > LIMITS.batchItems) throw tooMany();
  }
  if (Buffer.byteLength(JSON.stringify(found.items)) > LIMITS.batchBytes) throw tooMany();
  return found;
}

async function findRuns(
  deps: RouteDeps,
  caller: Caller,
  act: BatchAct,
  filter: OperatorBatchBody['filter'] = {},
): Promise<Named[]> {
  const { tool: _tool, ...wanted } = filter;
  const isRetry = act === 'retry';
  const of = { tenant: caller.tenantId, isOpen: !isRetry };
  const runs: Named[] = [];
  let cursor: string | undefined;
  do {
    const page = await listRuns(
      deps,
      { ...wanted, ...of, ...(isRetry && { except: 'completed' }) },
      { limit: PAGE, cursor },
    );
    runs.push(...page.runs.map(({ runId }) => ({ runId })));
    ({ cursor } = page);
    if (runs.length > LIMITS.batchItems) throw tooMany();
  } while (cursor !== undefined);
  return runs;
}

interface Judged {
  item: BatchItem;
  shown: OperatorBatchPlan['targets'][number];
  /** The code of the refusal. */
  refused?: string | undefined;
}

/** Empty for what the caller may not see, and for what the act does not apply to. */
async function judge(
  deps: RouteDeps,
  caller: Caller,
  act: BatchAct,
  { runId, toolCallId, inputHash }: Named,
  { tool, dryRun }: { tool: string | undefined; dryRun: boolean },
): Promise<Judged[]> {
  const root = rootOf(sessionOfRun(runId));
  if (!isStreamId(root)) return [];
  const found = await deps.stateStore.sessions.withCalls(root);
  if (found === undefined || !isOfTenant(found.record, caller.tenantId)) return [];
  const { record } = found;
  if ((await refusalOf(deps, caller, 'read', record)) !== undefined) return [];
  if (act === 'approve' || act === 'deny') {
    const calls = questionsOf(found, runId).filter(
      ({ toolCallId: id, toolName }) =>
        (toolCallId ?? id) === id && (tool === undefined || tool === toolName),
    );
    return Promise.all(
      calls.map(async (spec) => {
        const current = hashInput(spec.input);
        const shown = {
          approvalId: formatApprovalId(spec.runId, spec.toolCallId),
          // A dry run shows what it finds; a batch that acts names the input that its author was shown.
          inputHash: inputHash ?? (dryRun ? current : undefined),
        };
        const isAllowed = await decides(deps, caller, record, spec);
        return {
          item: [spec.runId, spec.toolCallId, current] as const,
          shown: {
            ...toShown(record, spec.runId),
            toolCallId: spec.toolCallId,
            toolName: spec.toolName,
            input: JSON.stringify(spec.input ?? null).slice(0, INPUT_CHARS),
            inputHash: current,
          },
          refused: !isAllowed ? 'not_allowed' : isAsShown(shown, spec) ? undefined : 'not_pending',
        };
      }),
    );
  }
  if (record.runId !== runId || !suits(act, record.status)) return [];
  const refused = await refusalOf(deps, caller, ACTION_OF[act], record);
  return [{ item: [runId], shown: toShown(record, runId), refused }];
}

/** Approvals that wait: of a conversation's newest run those of its sub-agents as well. */
function questionsOf({ record, openCalls }: SessionCalls, runId: string) {
  return openCalls
    .filter(({ state, spec }) => state === 'waiting' && spec.kind === 'approval')
    .map(({ spec }) => spec)
    .filter((spec) => spec.runId === runId || record.runId === runId);
}

function suits(act: BatchAct, status: RunStatus): boolean {
  if (act === 'stop') return !isTerminal(status);
  return isTerminal(status) && status !== 'completed';
}

/** The code with which a single act would be refused. */
async function refusalOf(
  deps: RouteDeps,
  caller: Caller,
  action: Action,
  record: SessionRecord,
): Promise<string | undefined> {
  try {
    await requireAllowed(deps, caller, action, record);
    if (action === 'retry') requireAddressable(deps.agents, record.agent);
    return undefined;
  } catch (error) {
    if (!HelixError.isInstance(error) || error.code === 'unavailable') throw error;
    return error.code;
  }
}

function toShown({ sessionId, agent, owner, status }: SessionRecord, runId: string) {
  return { runId, sessionId: toShownSessionId(sessionId), agent, owner, status };
}

function nameOf([runId, toolCallId]: BatchItem): string {
  return toolCallId === undefined ? runId : formatApprovalId(runId, toolCallId);
}

function tooMany(): HelixError {
  const most = String(LIMITS.batchItems);
  return new HelixError('validation_error', `More than ${most} match: narrow the filter.`);
}

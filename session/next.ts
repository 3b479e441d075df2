import {
  type At,
  type Next,
  type OpenCalls,
  type StepOutcome,
  isTerminal,
} from '../protocol/run.js';
import type { Call } from './record.js';
import { isWaiting } from './waiting.js';
import type { Session } from './tree.js';

/** Details that a caller wants in addition to the run's next work. */
export interface NextWants {
  /** Lists of calls even while some are in progress; a settled call would have to load all others for them. */
  lists?: boolean;
  /** Facts about the open calls. */
  calls?: boolean;
}

/** Longest interval between looks at calls that people have not been asked about yet. Each look adds to the history. */
const UNASKED_LIMIT_MS = 10 * 60_000;

export function atOf(session: Session, runId: string, wants: NextWants = {}): At {
  const { conversation, log } = session.tree;
  const next = nextOf(session, runId, wants);
  return { version: conversation.changes, sequence: log.sequence, next };
}

/** Returns a run's next work once the change that is being decided is stored. */
export function atAfter(session: Session, runId: string, wants?: NextWants): At {
  const at = atOf(session, runId, wants);
  return { ...at, version: at.version + 1 };
}

/** Returns a run's next work. Only the record decides it. */
export function nextOf(session: Session, runId: string, wants: NextWants = {}): Next {
  const { record } = session;
  if (record?.run.id !== runId) return { do: 'done', step: 0, status: 'superseded' };
  const { run } = record;
  const { committed: step, status, error, outcome } = run;
  if (isTerminal(status))
    return { do: 'done', step, status, ...(error !== undefined && { error }) };
  const asked = outcome?.kind === 'calls' ? outcome : undefined;
  const model: Next = {
    do: 'model',
    step: step + 1,
    ...(step === run.fromStep && { isFirst: true }),
    ...(mustFinish(outcome) && { mustFinish: true }),
  };
  if (run.hasModel) return model;
  const { conversation, now } = session.tree;
  const untilStartMs = status === 'starting' ? (run.waitsUntil ?? 0) - now : 0;
  if (untilStartMs > 0) return { do: 'open', step, dueInMs: untilStartMs };
  if (run.calls > 0) {
    if (wants.lists !== true && run.busyCalls > 0) return { do: 'open', step, isPartial: true };
    const open = session.openCalls().filter(({ state }) => state !== 'settled');
    if (open.length > 0) {
      const ids = new Set(open.map(({ id }) => id));
      const refs = wants.calls === true ? asked?.calls : undefined;
      const calls = refs && { calls: refs.filter(({ toolCallId }) => ids.has(toolCallId)) };
      return { do: 'open', step, ...listsOf(open), ...dueOf(session, open), ...calls };
    }
  }
  // A sub-agent continues together with the others.
  if (!session.isConversation && conversation.existing.stream === 'paused') {
    return { do: 'open', step };
  }
  // The model or a tool has given the result; the other calls were waited for.
  if (asked?.finish === 'valid' || run.outputRef !== undefined) return { do: 'end', step };
  return model;
}

export function mustFinish(outcome: StepOutcome | undefined): boolean {
  if (outcome?.kind !== 'calls') return false;
  return outcome.mustFinish === true || outcome.finish === 'missing';
}

/** Sorts the open calls by who continues them. An approved call of an incomplete batch is in no list. */
function listsOf(
  calls: readonly Call[],
): Pick<OpenCalls, 'machine' | 'children' | 'people' | 'asleep'> {
  const lists: ReturnType<typeof listsOf> = {};
  for (const call of calls) {
    const name = listOf(call);
    if (name !== undefined) (lists[name] ??= []).push(call.id);
  }
  return lists;
}

function listOf({
  state,
  child,
  isBusy,
}: Call): 'machine' | 'children' | 'people' | 'asleep' | undefined {
  if (child !== undefined) return 'children';
  if (state === 'waiting') return 'people';
  if (state === 'suspended') return 'asleep';
  return isBusy === true ? 'machine' : undefined;
}

/**
 * Returns the time until the earliest deadline. If people have not been asked, no time limit has begun, and nothing tells
 * the run when others of the conversation let it begin. So it looks after the shortest limit, and then less and less
 * often, unless calls of its own are in progress.
 */
function dueOf({ existing, tree: { now } }: Session, calls: readonly Call[]): { dueInMs?: number } {
  const waiting = calls.filter(isWaiting);
  const deadlines = waiting.flatMap(({ deadline }) => deadline ?? []);
  if (deadlines.length > 0) return { dueInMs: Math.max(0, Math.min(...deadlines) - now) };
  if (existing.run.busyCalls > 0) return {};
  const waits = waiting.flatMap(({ waitMs, since = now }) =>
    waitMs === undefined ? [] : Math.max(waitMs, Math.min(now - since, UNASKED_LIMIT_MS)),
  );
  return waits.length > 0 ? { dueInMs: Math.min(...waits) } : {};
}

import { isDeepStrictEqual } from 'node:util';
import type { AskedCall, WaitOver } from '../../protocol/notices.js';
import type { Decision, ToolRow } from '../../protocol/rows.js';
import type { CallSpec, OpenCall } from '../../stores/contract/call-record.js';
import { TIMED_OUT } from '../../stores/record/settle-inputs.js';

type Outcome = 'approved' | 'denied' | 'answered' | 'expired' | 'closed';

/** A deadline is one of the store's clock. */
const CLOCKS_MS = 500;

/**
 * How a question was settled: by the record, while it still has the call; else by what the run knew
 * when its wait was over, and by the clock last. Pure.
 */
export function outcomeOf(
  { toolCallId, kind, deadline = Infinity }: AskedCall,
  found: Pick<OpenCall, 'spec' | 'decision' | 'row'> | undefined,
  over: WaitOver | undefined,
  now: number,
): Outcome {
  if (found?.decision !== undefined) return ofDecision(found.decision);
  const isOverdue = (over?.at ?? now) >= deadline - CLOCKS_MS;
  if (found?.row?.role === 'tool') return ofRow(found.row, isOverdue ? found.spec : undefined);
  if (over?.approved?.includes(toolCallId) === true && kind === 'approval') return 'approved';
  if (over?.stopped === true) return 'closed';
  if (isOverdue) return 'expired';
  if (over?.approved === undefined) return 'closed';
  return kind === 'approval' ? 'denied' : 'answered';
}

function ofDecision({ approved, automatic }: Decision): Outcome {
  if (automatic === true) return 'expired';
  return approved ? 'approved' : 'denied';
}

/** @param overdue what was asked, if its deadline has passed by now */
function ofRow(
  { errorCode, output, decision }: ToolRow,
  overdue: Pick<CallSpec, 'onExpiry'> | undefined,
): Outcome {
  if (decision !== undefined) return ofDecision(decision);
  if (errorCode === TIMED_OUT.errorCode) return 'expired';
  if (errorCode !== undefined && CLOSED.has(errorCode)) return 'closed';
  // The result that the tool gives itself; a person who sends the same one is taken for it.
  const own = overdue?.onExpiry;
  const isOwn = typeof own === 'object' && isDeepStrictEqual(own.result ?? null, output);
  return isOwn ? 'expired' : 'answered';
}

/** Codes of calls that ended with their run or turn. */
const CLOSED: ReadonlySet<string> = new Set([
  'run_stopped',
  'run_failed',
  'client_tool_abandoned',
  'tool_outcome_unknown',
]);

import type { CallActivityRef, ToolCallOutcome } from '../../protocol/activities.js';
import { toSuspended } from '../../protocol/carry.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CallRef } from '../../protocol/run.js';
import { sleep } from '../../protocol/time.js';
import type { Attempt } from '../attempt.js';
import { AttemptCancelled, AttemptFailure, TOOL_RETRY, TOOLS_BUSY } from '../attempt-failure.js';
import type { ToolCall } from '../tool-call.js';
import { innerAttempt } from './inner-attempt.js';
import type { StepTable } from './step-table.js';

/** Number of calls of one step that are executed at once. */
const CALLS_AT_ONCE = 10;

/** The calls of a step, as far as a leg may execute them. */
export interface LegCalls {
  ref: Pick<CallActivityRef, 'sessionId' | 'runId' | 'agent' | 'step' | 'replaces'>;
  calls: readonly CallRef[];
  attempt: Attempt;
  table: Pick<StepTable, 'called'>;
  /** True if the leg hands over as soon as it can. */
  mustLeave: () => boolean;
  settled: (outcome: ToolCallOutcome) => void;
}

/**
 * Executes the calls of a step beside each other. If one of them fails its attempt, those that have
 * begun are waited for, since the next attempt could run beside them; no other one begins.
 *
 * @returns the calls that it leaves: to activities of their own, or to the next leg
 * @throws AttemptFailure, AttemptCancelled, or what a call has thrown
 */
export async function executeCalls(
  toolCall: ToolCall,
  { ref, calls, attempt, table, mustLeave, settled }: LegCalls,
): Promise<CallRef[]> {
  const queue = [...calls];
  const left: CallRef[] = [];
  const failures: unknown[] = [];
  const progress = { isStopped: false, hasBegun: false };

  async function execute(call: CallRef): Promise<void> {
    const startedMs = performance.now();
    const outcome = await untilSettled(call);
    if (outcome === undefined) return;
    const suspended = toSuspended(call, outcome);
    if (suspended !== undefined) left.push(suspended);
    else if (outcome.kind !== 'settled') progress.isStopped = true;
    const ms = Math.round(performance.now() - startedMs);
    const how = outcome.kind === 'settled' ? (outcome.error ?? 'ok') : outcome.kind;
    const isNew = outcome.sequence !== undefined;
    table.called(ref.step, { tool: call.toolName, ms, outcome: how }, isNew);
    settled(outcome);
  }

  /** The outcome of the call's last execution; undefined if it is left to the workflow. */
  async function untilSettled(call: CallRef): Promise<ToolCallOutcome | undefined> {
    const { toolCallId, toolName } = call;
    for (let retries = 0; ; retries += 1) {
      // Tokens of attempts differ by thousands.
      const own = innerAttempt(attempt, { token: attempt.token + retries });
      try {
        return await toolCall({ ...ref, toolCallId, toolName }, own, LIMITS.toolMs);
      } catch (error) {
        if (!(error instanceof AttemptFailure)) throw error;
        const { type, afterMs = 0 } = error.next;
        const isRetry = type === TOOL_RETRY;
        if (!isRetry && type !== TOOLS_BUSY) throw error;
        // A call that waits for its place costs nothing outside of the leg.
        if (!isRetry || mustLeave()) {
          left.push({ ...call, activity: {} });
          return undefined;
        }
        await sleep(afterMs, own.signal);
        if (attempt.cancelled()) throw new AttemptCancelled('the attempt was cancelled in a pause');
      }
    }
  }

  async function work(): Promise<void> {
    for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
      if (failures.length > 0 || progress.isStopped) return;
      // One begins in any case, so that each leg makes progress.
      if (progress.hasBegun && mustLeave()) {
        queue.unshift(call);
        return;
      }
      progress.hasBegun = true;
      await execute(call).catch((error: unknown) => {
        failures.push(error);
      });
    }
  }

  await Promise.all(Array.from({ length: Math.min(CALLS_AT_ONCE, calls.length) }, work));
  if (failures.length > 0) throw failures[0];
  return progress.isStopped ? left : [...left, ...queue];
}

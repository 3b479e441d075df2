import { setTimeout } from 'node:timers/promises';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { HelixError } from '../protocol/errors.js';
import { LIMITS } from '../protocol/limits.js';
import type { Writer } from '../stores/contract/log.js';
import type { HandOverInput } from '../stores/contract/steps.js';
import type { Attempt } from './attempt.js';
import type { ActivityDeps } from './deps.js';

/** An attempt waits this long until its end is recorded; the store keeps trying while the process lives. */
const RECORDED_MS = 1_000;

/** Type of the failure by which a tool asks to be executed again. */
export const TOOL_RETRY = 'tool_retry';

/** Tells a fault of the code, which repetition does not mend, from an outage that ends some time. */
export function isFault(error: unknown): boolean {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return false;
  return !(HelixError.isInstance(error) && error.code === 'unavailable');
}

/**
 * Records that an attempt ends without a result, and why. An attempt that dies records nothing, and its
 * successor counts it as lost; so it does with one that has outlived its time.
 *
 * @returns true if this fault used the budget up
 */
export async function handOver(
  { store, logger }: Pick<ActivityDeps, 'store' | 'logger'>,
  attempt: Attempt,
  writer: Writer,
  error: unknown,
  toolCallId?: string,
): Promise<boolean> {
  if (attempt.outlived()) return false;
  const how = toHow(error);
  const recorded = store.steps
    .handOver({ writer, how, ...(toolCallId !== undefined && { toolCallId }) })
    .catch((failure: unknown) => {
      logger.warn({ err: failure, runId: writer.runId }, 'an attempt could not be handed over');
    });
  const result = await Promise.race([recorded, setTimeout(RECORDED_MS, undefined, { ref: false })]);
  if (how !== 'fault' || result === undefined) return false;
  // The store does not count what fails before the claim; Temporal does.
  const lost = result.kind === 'handed_over' ? result.lost : attempt.number;
  return lost >= LIMITS.attempts.most;
}

function toHow(error: unknown): HandOverInput['how'] {
  if (isFault(error)) return 'fault';
  return error instanceof ApplicationFailure && error.type === TOOL_RETRY ? 'retry' : 'left';
}

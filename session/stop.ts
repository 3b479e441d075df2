import { type StopRequest, isTerminal } from '../protocol/run.js';
import { endingOfStop, finish, emitNextWaits } from './finish.js';
import { noteAct } from './acts.js';
import type { Act, Stored } from './input.js';
import { authorOf } from './chunks.js';
import type { Session } from './tree.js';

/**
 * Leaves a stop record and notifies the workers. The first record counts, but an abort replaces an interrupt.
 * `isStepRunning`: a model is streaming, and its step will end the run. A run that waits for its provider has no such
 * step.
 */
export function requestStop(
  session: Session,
  requested: StopRequest,
): { stop: StopRequest; isStepRunning: boolean; isWaiting: boolean } {
  const { run } = session.existing;
  const stop = run.stop === undefined || requested.mode === 'abort' ? requested : run.stop;
  run.stop = stop;
  session.tree.write('stop', run.id);
  const isWaiting = run.hasModel && (run.waitsUntil ?? 0) > session.tree.now;
  return { stop, isStepRunning: run.hasModel && !isWaiting, isWaiting };
}

export interface Stop {
  sessionId: string;
  runId?: string | undefined;
  stop: StopRequest;
  now: number;
  act?: Act | undefined;
}

export type StopReply =
  /** No run is active. */
  | { kind: 'nothing' }
  /** A model is streaming; its step will end the run. */
  | { kind: 'stopping'; runId: string }
  /** `next`: queued messages wait. `waited`: for its provider. `unstarted`: no worker had begun the run. */
  | { kind: 'ended'; runId: string; next?: true; waited?: true; unstarted?: true };

/**
 * Stops the newest run, or the named one if it is the newest. A run in which no model streams ends at once; otherwise
 * the model's step ends it. Addressed to a sub-agent, it stops the whole conversation.
 */
export function stop(
  session: Session,
  { runId, stop: requested, now, act }: Stored<Stop>,
): StopReply {
  const addressed = session.record;
  if (addressed === undefined || isTerminal(addressed.run.status)) return { kind: 'nothing' };
  if (runId !== undefined && runId !== addressed.run.id) return { kind: 'nothing' };
  const { conversation } = session.tree;
  const { run, tenant } = conversation.existing;
  if (isTerminal(run.status)) return { kind: 'nothing' };
  const { stop: counts, isStepRunning, isWaiting } = requestStop(conversation, requested);
  noteAct(session, act, { outcome: isStepRunning ? 'stopping' : 'ended', tenant, runId: run.id });
  if (isStepRunning) return { kind: 'stopping', runId: run.id };
  const isUnstarted = run.status === 'starting';
  const hasNext = finish(conversation, authorOf(conversation, now), endingOfStop(counts));
  return {
    kind: 'ended',
    runId: run.id,
    ...emitNextWaits(conversation, hasNext),
    ...(isWaiting && { waited: true }),
    ...(isUnstarted && { unstarted: true }),
  };
}

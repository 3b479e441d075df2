import { readEndOfStep } from './places.js';
import type { Session } from './session.js';

export interface Checkpoint {
  id: string;
  stepCount: number;
  messageCount: number;
  streamSequence: number;
  stateVersion: number;
}

/**
 * Sequence of the last entry of a committed step, including the results of its calls, which follow
 * the commit.
 */
export function endOfStep(session: Session, { id, streamSequence }: Checkpoint): number {
  return readEndOfStep(session, id) ?? streamSequence;
}

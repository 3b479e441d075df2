import { redis } from './host.js';
import { PAGE } from './attempts.js';
import { jsonOf, placeOf } from './entries.js';
import { int } from './json.js';
import { sequenceOf } from './log.js';
import { readEndOfStep } from './places.js';
import type { Session } from './session.js';

export interface Checkpoint {
  id: string;
  stepCount: number;
  messageCount: number;
  streamSequence: number;
  stateVersion: number;
}

const ENDS = ['stream_end', 'stream_status', 'stream_truncated', 'run_interrupted', 'error'];

/**
 * Sequence of the last entry of a committed step, including the results of its calls, which follow
 * the commit.
 */
export function endOfStep(session: Session, checkpoint: Checkpoint): number {
  return readEndOfStep(session, checkpoint.id) ?? searchEnd(session, checkpoint);
}

/** For steps committed before their ends were noted. */
function searchEnd(session: Session, { stepCount, streamSequence }: Checkpoint): number {
  let last = streamSequence;
  let isMore = true;
  while (isMore) {
    const after = `(${int(last)}-0`;
    const page = redis.call('XRANGE', session.stream, after, '+', 'COUNT', int(PAGE));
    for (const [id, entry] of page) {
      if (endsStep(jsonOf(entry), session.conversationId, stepCount)) return last;
      last = sequenceOf(id);
    }
    isMore = page.length === PAGE;
  }
  return last;
}

function endsStep(json: string, agentId: string, step: number): boolean {
  const place = placeOf(json, agentId);
  if (place === undefined) return true;
  for (const type of ENDS) if (place.type === type) return true;
  // A sub-agent numbers its steps separately.
  return place.agentId === agentId && place.step !== step;
}

import { cjson, redis } from './host.js';
import { PAGE } from './attempts.js';
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
      if (endsStep(entry[3] as string, session.conversationId, stepCount)) return last;
      last = sequenceOf(id);
    }
    isMore = page.length === PAGE;
  }
  return last;
}

function endsStep(json: string, agentId: string, step: number): boolean {
  try {
    const message = cjson.decode(json) as { type: string; agentId?: string; step?: number };
    for (const type of ENDS) if (message.type === type) return true;
    // A sub-agent numbers its steps separately.
    return message.agentId === agentId && message.step !== step;
  } catch {
    return true;
  }
}

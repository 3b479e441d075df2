import type { TransitionName } from '../transitions/library.js';
import type { ResultOf } from './transition-results.js';

/** Transitions reply in JSON of what they spliced together of checked values; a view is a list. */
export function parseReply<Name extends TransitionName>(
  transition: Name,
  reply: unknown,
): ResultOf<Name> {
  if (Array.isArray(reply)) return reply as ResultOf<Name>;
  if (typeof reply === 'string') return JSON.parse(reply) as ResultOf<Name>;
  throw new Error(`transition ${transition} replied ${String(reply)}`);
}

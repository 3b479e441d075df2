import type { StoredSteps } from './turn-origin.js';
import type { StreamProfile } from '../parts/ui-stream-part.js';

/** Which part of a turn a response carries. */
export interface TurnSpan {
  sessionId: string;
  /** Id of the assistant message. */
  messageId: string;
  /** Sequence before the first entry. */
  from: number;
  /**
   * `live`: on until the first pause or end beyond `after`.
   * `stored`: up to and including `upTo`, which the log has already.
   */
  until: { kind: 'live'; after: number } | { kind: 'stored'; upTo: number };
  /** True if the client has the message up to `from`. */
  isTail: boolean;
  /** The client has everything up to here; only what it needs to go on is told again. */
  seenUpTo?: number;
  /** Steps that are told from their rows, before anything of the log. */
  stored?: StoredSteps;
  /** Calls that wait for an approval at sequence `asOf`; earlier requests for others are left out. */
  waiting?: { calls: ReadonlySet<string>; asOf: number };
  profile: StreamProfile;
}

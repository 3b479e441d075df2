import { BROKEN_OFF } from '../parts/errors.js';

/**
 * The message on the page cannot be completed: the server has `withdrawn` part of it, or stayed `unreachable`. The
 * page removes the message and follows the turn from its beginning, as `rebuildReply` does.
 */
export class ReplyBrokenError extends Error {
  // Not a TypeError: stock chats treat one as a network failure and keep the copy that they have.
  override readonly name = 'ReplyBrokenError';
  readonly reason: 'withdrawn' | 'unreachable';

  constructor(reason: ReplyBrokenError['reason'], cause?: unknown) {
    super(reason === 'withdrawn' ? 'The reply has to be loaded again.' : BROKEN_OFF, { cause });
    this.reason = reason;
  }

  /** True also for the error of another copy of this module. */
  static isInstance(error: unknown): error is ReplyBrokenError {
    return error instanceof Error && error.name === 'ReplyBrokenError' && 'reason' in error;
  }
}

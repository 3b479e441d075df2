/**
 * The message that the page holds cannot be completed from here: part of it was `withdrawn` by the
 * server, or the server stayed `unreachable`. The page takes it out and follows the turn from its
 * beginning; `rebuildReply` does.
 */
export class ReplyBrokenError extends Error {
  // Not a TypeError: stock chats take one for a break of the network, and go on with the copy they have.
  override readonly name = 'ReplyBrokenError';
  readonly reason: 'withdrawn' | 'unreachable';

  constructor(reason: ReplyBrokenError['reason'], cause?: unknown) {
    super(
      reason === 'withdrawn'
        ? 'The reply has to be loaded again.'
        : 'The connection was lost while the reply came in.',
      { cause },
    );
    this.reason = reason;
  }

  /** True also for the error of another copy of this module. */
  static isInstance(error: unknown): error is ReplyBrokenError {
    return error instanceof Error && error.name === 'ReplyBrokenError' && 'reason' in error;
  }
}

import type { AgentTurn } from './agent-turn.js';
import { ChatRequestError } from './chat-request-error.js';
import type { CommonStreamPart } from './chat-transport.js';
import { isNetworkError } from './is-network-error.js';
import { persist, Retries, type Patience } from './patience.js';
import { ReplyBrokenError } from './reply-broken-error.js';
import { readSseEvents } from './sse-events.js';

/**
 * A turn from its position to its next rest, over as many connections as it takes.
 *
 * @throws ReplyBrokenError, ChatRequestError
 */
export async function* readParts(
  turn: AgentTurn,
  open: (after: number) => Promise<Response>,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<CommonStreamPart[], void, undefined> {
  const retries = new Retries(patience);
  yield turn.start();
  for (;;) {
    let cause: unknown = new TypeError('network error: the stream ended before its end');
    try {
      const { body } = await persist(() => open(turn.position), retries, signal);
      if (body !== null) {
        for await (const events of readSseEvents(body, patience.longestSilenceMs)) {
          signal.throwIfAborted();
          retries.reset();
          yield turn.take(events);
          if (turn.isOver) return;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      // The log has lost what this page had read.
      if (isRewound(error)) throw new ReplyBrokenError('withdrawn', error);
      if (!isNetworkError(error)) throw error;
      cause = error;
    }
    signal.throwIfAborted();
    await retries.next(cause, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ReplyBrokenError('unreachable', error);
    });
  }
}

function isRewound(error: unknown): boolean {
  return error instanceof ChatRequestError && error.code === 'rewound';
}

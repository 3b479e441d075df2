/** The server says something, if only a comment, more often than this. */
const LONGEST_SILENCE_MS = 45_000;

/**
 * A connection that died without a word, say behind a sleeping laptop or a proxy, looks like a
 * silent agent. This ends it as a broken one, so that the page looks for a new one.
 */
export function breakSilence(response: Response, longestMs = LONGEST_SILENCE_MS): Response {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !type.startsWith('text/event-stream')) return response;

  const reader = response.body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await within(longestMs, reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        void reader.cancel(error).catch(() => undefined);
        throw error;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new TypeError('network error: the connection fell silent'));
    }, ms);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

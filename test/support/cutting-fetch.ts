/** Answers a request in place of a server. */
type Answer = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Breaks connections as a network does: the nth response ends with an error after so many bytes.
 * Responses beyond the list are whole.
 */
export function createCuttingFetch(answer: Answer, cuts: readonly number[]): Answer {
  let count = 0;
  return async (url, init) => {
    const response = await answer(url, init);
    const left = cuts[count++];
    if (left === undefined || response.body === null) return response;
    return new Response(cutAfter(response.body, left), response);
  };
}

function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) {
        controller.close();
        return;
      }
      if (left > 0) controller.enqueue(value.subarray(0, left));
      left -= value.length;
      if (left > 0) return;
      void reader.cancel();
      // Given to the reader before the error is: as bytes that have arrived.
      await new Promise((resolve) => setImmediate(resolve));
      controller.error(new TypeError('network error'));
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

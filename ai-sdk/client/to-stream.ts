/** A generator's parts as a stream. Cancelling it fires the signal and ends the generator. */
export function toStream<T>(
  parts: AsyncGenerator<T[], void, undefined>,
  leave: AbortController,
): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      // A stream that was given nothing is not asked again while its reader waits.
      for (;;) {
        const next = await parts.next();
        if (next.done === true) controller.close();
        else for (const part of next.value) controller.enqueue(part);
        if (next.done === true || next.value.length > 0) return;
      }
    },
    async cancel() {
      leave.abort();
      await parts.return();
    },
  });
}

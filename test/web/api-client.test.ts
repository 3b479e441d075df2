import { ask, request } from '../../web/src/api-client.js';

/** Answers with a body whose pieces arrive so many ms after one another. */
function answer(...waits: number[]): Promise<Response> {
  const pieces = ['{"a"', ':', '1}'];
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const ms = waits.shift();
      if (ms === undefined) {
        controller.close();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, ms));
      controller.enqueue(new TextEncoder().encode(pieces.shift()));
    },
  });
  return Promise.resolve(new Response(body));
}

describe('an answer over a slow line', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  it('may take longer than the server may be silent', async () => {
    const read = ask(() => answer(9_000, 9_000, 9_000), '/x');
    await jest.advanceTimersByTimeAsync(27_000);
    expect(await read).toEqual({ a: 1 });
  });

  it.each([
    ['never begins', () => new Promise<Response>(() => undefined)],
    ['falls silent', () => answer(1, 60_000)],
  ])('counts as lost if it %s', async (_, reply) => {
    let signal: AbortSignal | null | undefined;
    const read = ask((_url, init) => {
      ({ signal } = init ?? {});
      return reply();
    }, '/x');
    read.catch(() => undefined);
    await jest.advanceTimersByTimeAsync(20_000);
    await expect(read).rejects.toThrow('no answer in time');
    expect(signal?.aborted).toBe(true);
  });
});

it('an answer that the page leaves is not received any further', async () => {
  const isLeft = new Promise((resolve) => {
    const body = new ReadableStream({ cancel: resolve });
    void request(() => Promise.resolve(new Response(body)), '/x').then((answered) =>
      answered.body?.cancel('left'),
    );
  });
  expect(await isLeft).toBe('left');
});

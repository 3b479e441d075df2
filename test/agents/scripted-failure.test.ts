import { getEventListeners } from 'node:events';
import { APICallError, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createScriptedModel } from '../../agents/index.js';
import { fromScript, readParts, readText, select, toDeltas } from './streams.js';

const model = createScriptedModel();

function withAttempt(attempt: number, entry: unknown): LanguageModelV4CallOptions {
  return { ...fromScript(entry), providerOptions: { helix: { attempt } } };
}

describe('a scripted failure', () => {
  it.each([
    [429, true],
    [503, true],
    [408, true],
    [409, true],
    [401, false],
    [400, false],
  ])('a scripted failure with status %d is retryable: %s', async (status, isRetryable) => {
    const call = model.doStream(fromScript({ say: 'x', fail: { status, retryAfterMs: 50 } }));
    const error: unknown = await Promise.resolve(call).then(undefined, (e: unknown) => e);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      statusCode: status,
      isRetryable,
      responseHeaders: { 'retry-after-ms': '50' },
    });
  });

  it('a scripted failure fails the first attempts only', async () => {
    const entry = { say: 'fine', fail: { status: 500, times: 2 } };
    await expect(model.doStream(withAttempt(1, entry))).rejects.toThrow('500');
    await expect(model.doStream(withAttempt(2, entry))).rejects.toThrow('500');
    expect(await readText(model, withAttempt(3, entry))).toBe('fine');
  });

  it('a scripted failure fails after the configured number of deltas', async () => {
    const entry = { say: 'abcdef', deltas: 6, fail: { status: 429, afterDeltas: 3 } };
    const parts = await readParts(model, fromScript(entry));
    expect(toDeltas(parts)).toEqual(['a', 'b', 'c']);
    expect(parts.slice(-2).map(({ type }) => type)).toEqual(['error', 'finish']);
    const [failure] = select(parts, 'error');
    expect(failure?.error).toMatchObject({ statusCode: 429, isRetryable: true });
    expect(select(parts, 'finish')[0]?.finishReason).toEqual({ unified: 'error', raw: '429' });
    await expect(model.doGenerate(fromScript(entry))).rejects.toThrow('429');
  });

  it('a scripted failure happens even if the reply is too short for it', async () => {
    const entry = { say: 'ab', deltas: 2, fail: { status: 500, afterDeltas: 9 } };
    const parts = await readParts(model, fromScript(entry));
    expect(toDeltas(parts)).toEqual(['a', 'b']);
    expect(select(parts, 'error')).toHaveLength(1);
  });
});

describe('attempts', () => {
  it('attempt n of the script overrides the entry, and the last attempt repeats', async () => {
    const entry = { say: 'base', attempts: [{ say: 'first' }, { deltas: 2 }, { say: 'last' }] };
    const texts = [1, 2, 3, 4].map((attempt) => readText(model, withAttempt(attempt, entry)));
    expect(await Promise.all(texts)).toEqual(['first', 'base', 'last', 'last']);
    expect(toDeltas(await readParts(model, withAttempt(2, entry)))).toEqual(['ba', 'se']);
  });

  it.each([undefined, 0, 'two'])('the script counts %j as the first attempt', async (attempt) => {
    const entry = { attempts: [{ say: 'first' }, { say: 'second' }] };
    const options = { ...fromScript(entry), providerOptions: { helix: { attempt } } };
    expect(await readText(model, options)).toBe('first');
  });
});

describe('an abort', () => {
  const reason = new Error('stopped');
  const silent = { hangMs: 600_000, say: 'late' };

  it('the scripted model refuses a call that has been aborted already', async () => {
    const options = { ...fromScript(silent), abortSignal: AbortSignal.abort(reason) };
    await expect(model.doStream(options)).rejects.toBe(reason);
  });

  it.each([
    ['while the model is silent', silent, 0],
    ['between two deltas', { say: 'abc', deltas: 3, everyMs: 600_000 }, 4],
  ])('an abort ends the stream at once %s', async (_, entry, received) => {
    const stop = new AbortController();
    const { stream } = await model.doStream({ ...fromScript(entry), abortSignal: stop.signal });
    const reader = stream.getReader();
    for (let i = 0; i < received; i += 1) await reader.read();
    const next = reader.read();
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
  });

  it('an abort ends a refusal that keeps the caller waiting', async () => {
    const stop = new AbortController();
    const entry = { ...silent, fail: { status: 500 } };
    const call = model.doStream({ ...fromScript(entry), abortSignal: stop.signal });
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it('an abort interrupts a flood of deltas', async () => {
    const stop = new AbortController();
    setImmediate(() => {
      stop.abort(reason);
    });
    const options = { ...fromScript({ stamp: true, deltas: 100_000 }), abortSignal: stop.signal };
    await expect(readParts(model, options)).rejects.toBe(reason);
  });

  it('an abort leaves no listener on the caller’s signal, however the call ended', async () => {
    const { signal } = new AbortController();
    const call = (entry: unknown): LanguageModelV4CallOptions => ({
      ...fromScript(entry),
      abortSignal: signal,
    });
    await readParts(model, call({ say: 'x' }));
    await expect(model.doStream(call({ fail: { status: 500 } }))).rejects.toThrow('500');
    const { stream } = await model.doStream(call({ say: 'abc', deltas: 3 }));
    await stream.cancel();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('an abort leaves no timer behind, nor does a reader that disconnects', async () => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    /** Those of the model: other files of the process have timers too. */
    const left = (): NodeJS.Timeout[] => {
      const own = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === silent.hangMs);
      const ended = cleared.mock.calls.map(([timer]): unknown => timer);
      return own
        .map(({ value }) => value as NodeJS.Timeout)
        .filter((timer) => !ended.includes(timer));
    };
    const stop = new AbortController();
    const options = { ...fromScript(silent), abortSignal: stop.signal };
    const [aborted, cancelled] = [await model.doStream(options), await model.doStream(options)];
    expect(left()).toHaveLength(2);
    await cancelled.stream.cancel();
    expect(left()).toHaveLength(1);
    stop.abort(reason);
    await expect(aborted.stream.getReader().read()).rejects.toBe(reason);
    expect(left()).toEqual([]);
  });
});

import {
  isRefusedForGood,
  mayPass,
  quote,
  untilCallsEnd,
  withinDeadline,
} from '../../runs/temporal-calls.js';

/** Fakes a connection that only makes the call. */
const connect = () => ({ withDeadline: <T>(_: unknown, call: () => Promise<T>) => call() });
const connection = connect();

function grpcError(code: number): Error {
  return Object.assign(new Error(`grpc ${String(code)}`), { code });
}

describe('a call to Temporal', () => {
  it('a call to Temporal returns its result, or its own error unchanged', async () => {
    expect(await withinDeadline(connection, () => Promise.resolve(7))).toBe(7);
    const error = new Error('no such thing');
    await expect(withinDeadline(connection, () => Promise.reject(error))).rejects.toBe(error);
    const notFound = grpcError(5);
    await expect(withinDeadline(connection, () => Promise.reject(notFound))).rejects.toBe(notFound);
  });

  it('a call to Temporal without an answer fails as unavailable in time', async () => {
    jest.useFakeTimers();
    const never = new Promise<never>(() => undefined);
    const refused = expect(withinDeadline(connection, () => never)).rejects.toMatchObject({
      name: 'HelixError',
      code: 'unavailable',
    });
    await jest.advanceTimersByTimeAsync(3_000);
    await refused;
  });

  it('a call to Temporal is under way until it settles, although its caller gave up', async () => {
    const own = connect();
    let settle = (): void => undefined;
    const late = new Promise<void>((resolve) => (settle = resolve));
    await expect(withinDeadline(own, () => late, 1)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await withinDeadline(own, () => Promise.resolve());
    let hasEnded = false;
    const ended = untilCallsEnd(own).then(() => (hasEnded = true));
    await new Promise(setImmediate);
    expect(hasEnded).toBe(false);
    settle();
    await ended;
    await untilCallsEnd(own);
  });

  it.each([1, 4, 8, 14])(
    'a call to Temporal that fails with gRPC code %i is unavailable, also when wrapped',
    async (code) => {
      const bare = grpcError(code);
      const wrapped = new Error('service error', { cause: new Error('x', { cause: bare }) });
      for (const error of [bare, wrapped]) {
        await expect(withinDeadline(connection, () => Promise.reject(error))).rejects.toMatchObject(
          {
            code: 'unavailable',
            cause: error,
          },
        );
      }
    },
  );
});

it('of the refusals of Temporal some may pass, and two are for good', () => {
  const errors = Array.from({ length: 17 }, (_, code) => ({ code, error: grpcError(code) }));
  const codesOf = (isSo: (error: unknown) => boolean) =>
    errors.flatMap(({ code, error }) => (isSo(error) ? [code] : []));
  expect(codesOf(mayPass)).toEqual([1, 2, 4, 8, 10, 13, 14, 15]);
  expect(codesOf(isRefusedForGood)).toEqual([3, 12]);
  expect(mayPass(new Error('of this side'))).toBe(false);
});

it('a message that is too large for Temporal fails again, and other exhaustion passes', () => {
  const exhausted = (message: string) => Object.assign(new Error(message), { code: 8 });
  expect(mayPass(exhausted('namespace rate limit exceeded'))).toBe(true);
  expect(mayPass(exhausted('Received message larger than max (5 vs. 4)'))).toBe(false);
});

it('a value in a query ends where it should', () => {
  expect(quote("a'b\\")).toBe("'a''b\\\\'");
});

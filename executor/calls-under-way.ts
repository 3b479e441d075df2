const underWay = new WeakMap<object, Set<Promise<unknown>>>();

/** Notes a call to Temporal until it has settled, also once its caller no longer waits for it. */
export function noteCall(connection: object, call: Promise<unknown>): void {
  const calls = underWay.get(connection) ?? new Set();
  underWay.set(connection, calls.add(call));
  const forget = (): unknown => calls.delete(call);
  call.then(forget, forget);
}

/**
 * Resolves when no call is under way, which takes little more than their deadline. A connection is closed
 * after that: the SDK repeats a call from a timer, which throws on a closed connection.
 */
export async function untilCallsEnd(connection: object): Promise<void> {
  await Promise.allSettled([...(underWay.get(connection) ?? [])]);
}

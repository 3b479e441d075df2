/**
 * Waits for something that happens elsewhere: asks again until it is so.
 *
 * @throws Error that says what did not happen in time
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | false | undefined> | T | false | undefined,
  withinMs = 15_000,
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > giveUpAt) throw new Error(`did not happen in ${String(withinMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const ASK_EVERY_MS = 5;

/**
 * Asks until the answer is one.
 *
 * @throws Error that says what did not come about
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | false | undefined> | T | false | undefined,
  withinMs = 30_000,
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > giveUpAt)
      throw new Error(`did not come about in ${String(withinMs)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
}

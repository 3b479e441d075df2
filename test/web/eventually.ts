const PATIENCE_MS = 60_000;

/** Resolves when `check` holds. */
export async function eventually(check: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!check()) {
    if (Date.now() > deadline) throw new Error(`It never happened: ${String(check)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Works through items, so many at once; rejects with the first failure. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const next = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of next) await work(item);
    }),
  );
}

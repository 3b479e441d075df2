const PAGE = 100;

interface Page<T> {
  items: readonly T[];
  cursor?: string | undefined;
}

/**
 * Reads a list lazily, page by page.
 *
 * @param max maximum number of items; undefined for all
 * @param onMore called if there are more items
 */
export async function* readPages<T>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Page<T>>,
  max: number | undefined,
  onMore?: () => void,
): AsyncGenerator<T, void> {
  let left = max ?? Infinity;
  let cursor: string | undefined;
  while (left > 0) {
    const page = await read({ limit: Math.min(left, PAGE), cursor });
    const items = page.items.slice(0, left);
    yield* items;
    left -= items.length;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
  onMore?.();
}

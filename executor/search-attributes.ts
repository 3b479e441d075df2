import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../protocol/temporal-names.js';

/** Indexed value types of Temporal's API. */
const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3 } as const;

/**
 * Registers the runs' search attributes where they are missing.
 *
 * @returns false if the server does not have them all and will not take them, or has one of another
 * type: runs go without
 */
export async function registerSearchAttributes(
  connection: Pick<Connection, 'withDeadline' | 'operatorService'>,
  namespace: string,
): Promise<boolean> {
  try {
    const present = await connection.withDeadline(Date.now() + 5_000, () =>
      connection.operatorService.listSearchAttributes({ namespace }),
    );
    const entries = Object.entries(SEARCH_ATTRIBUTES);
    const isOther = ([name, type]: (typeof entries)[number]): boolean => {
      const known: number | undefined = present.customAttributes[name];
      return known !== undefined && known !== INDEXED_VALUE_TYPE[type];
    };
    if (entries.some(isOther)) return false;
    const missing = entries.filter(([name]) => present.customAttributes[name] === undefined);
    if (missing.length === 0) return true;
    await connection.withDeadline(Date.now() + 5_000, () =>
      connection.operatorService.addSearchAttributes({
        namespace,
        searchAttributes: Object.fromEntries(
          missing.map(([name, type]) => [name, INDEXED_VALUE_TYPE[type]]),
        ),
      }),
    );
    return true;
  } catch {
    // Not permitted, or an API that the server does not offer: labels are no reason to refuse work.
    return false;
  }
}

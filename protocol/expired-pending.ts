/** Pending calls by id, as far as their deadlines go. */
export type DeadlinesById = Readonly<
  Record<string, { readonly deadline?: number | undefined; readonly response?: unknown }>
>;

/**
 * Ids of the calls that nobody has answered and whose deadline has passed. Pure.
 *
 * @param now ms since the epoch; the store has the last word when they are settled
 */
export function findExpiredPending(pending: DeadlinesById, now = Date.now()): string[] {
  return Object.entries(pending).flatMap(([toolCallId, { deadline, response }]) =>
    response === undefined && deadline !== undefined && deadline <= now ? [toolCallId] : [],
  );
}

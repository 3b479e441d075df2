/** Pending calls by id, with the fields that matter for deadlines. */
export type DeadlinesById = Readonly<
  Record<string, { readonly deadline?: number | undefined; readonly response?: unknown }>
>;

/**
 * Ids of unanswered calls whose deadline has passed. Pure.
 *
 * @param now ms since the epoch; the store decides by its own clock when the calls are settled
 */
export function findExpiredPending(pending: DeadlinesById, now = Date.now()): string[] {
  return Object.entries(pending).flatMap(([toolCallId, { deadline, response }]) =>
    response === undefined && deadline !== undefined && deadline <= now ? [toolCallId] : [],
  );
}

import { z } from 'zod';
import type { RunFilter, RunPage } from '../executor/run-list.js';
import { HelixError } from '../protocol/errors.js';
import type { RouteDeps } from './deps.js';

/** Conversations whose runs one page looks for. */
const CONVERSATIONS = 20;

const Place = z.tuple([z.string(), z.string()]);

interface Wanted extends RunFilter {
  /** Only runs of this user's conversations, those first that changed last. */
  owner?: string | undefined;
}

/**
 * Lists runs, newest first. Temporal does not know owners: for one of them the runs of a few
 * conversations at a time are listed, so a page may be short, or empty, and have a cursor all the same.
 *
 * @throws HelixError `invalid_query`, `validation_error` for a cursor of another list
 */
export async function listRuns(
  { executor, stateStore: { owners } }: Pick<RouteDeps, 'executor' | 'stateStore'>,
  { owner, ...filter }: Wanted,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RunPage> {
  if (owner === undefined) return executor.list(filter, { limit, cursor });
  const [from, inner] = cursor === undefined ? [] : parsePlace(cursor);
  const at = from === undefined || from === '' ? {} : { cursor: from };
  const page = await owners.page({ owner, tenant: filter.tenant }, { limit: CONVERSATIONS, ...at });
  const sessions = page.conversations.map(({ sessionId }) => sessionId);
  const found: RunPage =
    sessions.length === 0
      ? { runs: [] }
      : await executor.list(
          { ...filter, sessions },
          { limit, cursor: inner === '' ? undefined : inner },
        );
  if (found.cursor !== undefined) {
    return { runs: found.runs, cursor: formatPlace([from ?? '', found.cursor]) };
  }
  if (page.cursor !== undefined) return { ...found, cursor: formatPlace([page.cursor, '']) };
  return found;
}

function formatPlace(place: z.infer<typeof Place>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function parsePlace(cursor: string): z.infer<typeof Place> {
  try {
    return Place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch (error) {
    throw new HelixError('validation_error', 'The cursor is of another list.', { cause: error });
  }
}

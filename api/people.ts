import { toShownSessionId } from '../protocol/ids.js';
import type { Actor } from '../protocol/actor.js';
import type { PersonErasureReply } from '../protocol/erasure.js';
import { LIMITS } from '../protocol/limits.js';
import { toAct } from '../stores/record/acts.js';
import type { SessionOwner } from '../stores/contract/waiting.js';
import type { RouteDeps } from './deps.js';

/** Conversations that one request erases at most. */
const MOST = 100;
const PAGE = 50;
const ROWS = 100;

/**
 * Erases the conversations of a person, then the name in the sums of usage and the key of the
 * pseudonym. A request that was interrupted, or that found more than it erases at once, is repeated.
 */
export async function erasePerson(
  { executor, stateStore }: Pick<RouteDeps, 'executor' | 'stateStore'>,
  who: SessionOwner,
  actor: Actor,
): Promise<PersonErasureReply> {
  const { owners, audit, usage } = stateStore;
  const erased = { sessions: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
  let complete = true;
  let found = 0;
  while (found < MOST) {
    const { conversations } = await owners.page(who, { limit: PAGE });
    if (conversations.length === 0) break;
    for (const { sessionId } of conversations) {
      found += 1;
      const receipt = await executor.deleteSession(sessionId, actor);
      if (receipt === undefined) continue;
      complete &&= receipt.complete;
      for (const what of COUNTED) erased[what] += receipt[what];
    }
  }
  const { conversations } = await owners.page(who, { limit: 1 });
  complete &&= conversations.length === 0;
  if (complete) {
    const { owner: person, tenant } = who;
    await owners.repair(who);
    await usage.forget(who);
    // The entry comes before the key is destroyed: it names the person by the last pseudonym.
    const act = toAct('forget', actor, { tenant, detail: { conversations: found } });
    await audit.record(act, { person });
    await audit.forget(tenant, person);
  }
  return { complete, conversations: found, ...erased };
}

const COUNTED = ['sessions', 'workflows', 'rows', 'entries', 'bytes'] as const;

/** What is stored about a person, as JSON lines; the export is recorded before it begins. */
export async function exportPerson(
  { stateStore }: Pick<RouteDeps, 'stateStore'>,
  who: SessionOwner,
  actor: Actor,
): Promise<AsyncIterable<string>> {
  const { owners, audit, sessions, files } = stateStore;
  const { owner: person, tenant } = who;
  await audit.record(toAct('export', actor, { tenant, detail: { what: 'person' } }), { person });

  async function* lines(): AsyncGenerator<object> {
    let cursor: string | undefined;
    do {
      const page = await owners.page(who, { limit: PAGE, cursor });
      for (const { sessionId: storedId, ...conversation } of page.conversations) {
        const sessionId = toShownSessionId(storedId);
        yield { type: 'conversation', sessionId, ...conversation };
        for (let from = 0; ; from += ROWS) {
          const rows = await sessions.rows(storedId, from, from + ROWS);
          for (const row of rows) yield { type: 'row', sessionId, row };
          if (rows.length < ROWS) break;
        }
        for (const file of (await files?.list(storedId)) ?? []) {
          const range = { from: 0, to: file.bytes };
          const content = await files?.content(storedId, file.id, range);
          const data = content && Buffer.from(content).toString('base64');
          yield { type: 'file', sessionId, file, data };
        }
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    do {
      const query = { actor: person, limit: LIMITS.auditPage, cursor };
      const page = await audit.page(tenant, query);
      for (const { n, entry } of page.entries) yield { type: 'audit', n, entry };
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  return toJsonLines(lines());
}

async function* toJsonLines(items: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}

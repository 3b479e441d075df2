import { HelixError } from '../../protocol/errors.js';
import type { Audit, AuditEntry, AuditQuery, ChainedEntry } from '../contract/audit.js';
import type { StoredEntry } from './audit-chain.js';
import type { People } from './audit-people.js';
import type { RedisContext } from './context.js';
import { parseStored } from '../record/stored-json.js';

const READ_AT_ONCE = 200;
/** Limit on entries examined for one page. A query with few matches gets those, and a cursor. */
const MOST_LOOKS = 5_000;

/** Reads pages of a tenant's chain, newest first unless a reader follows it. */
export function createAuditPages(
  context: Pick<RedisContext, 'redis' | 'keys'>,
  people: Pick<People, 'find' | 'namesOf' | 'sealedOf'>,
): Pick<Audit, 'page'> {
  const { redis, keys } = context;
  return {
    page: async (tenant = '', query) => {
      const { after } = query;
      const isForward = after !== undefined;
      const actor = query.actor === undefined ? undefined : await people.find(tenant, query.actor);
      // A person without a key has no entries that could be found.
      if (query.actor !== undefined && actor === undefined) {
        return { entries: [], ...(isForward && { after }) };
      }
      const { chain } = keys.audit(tenant);
      const found: ChainedEntry[] = [];
      let at = after ?? parseCursor(query.cursor);
      let isOver = false;
      for (let looks = 0; looks < MOST_LOOKS && !isOver;) {
        const from = at === undefined ? '+' : `(${String(at)}-0`;
        const page = await (isForward
          ? redis.xrange(chain, from, '+', 'COUNT', READ_AT_ONCE)
          : redis.xrevrange(chain, from, '-', 'COUNT', READ_AT_ONCE));
        looks += page.length;
        isOver = page.length < READ_AT_ONCE;
        for (const [id, fields] of page) {
          at = Number(id.split('-')[0]);
          const stored = toStored(id, fields);
          if (stored === undefined) continue;
          const entry = parseEntry(stored);
          if (fits(entry, query, actor)) found.push({ n: stored.n, entry });
          if (found.length >= query.limit) return named(tenant, found, isForward, at);
        }
      }
      return named(tenant, found, isForward, isOver && !isForward ? undefined : at);
    },
  };

  async function named(
    tenant: string,
    entries: ChainedEntry[],
    isForward: boolean,
    next: number | undefined,
  ) {
    const actors = entries.map(({ entry }) => entry.actor);
    const names = await people.namesOf(tenant, actors);
    const sealed = await people.sealedOf(tenant, actors);
    return {
      entries: entries.map((each) => {
        const name = names.get(each.entry.actor);
        const isSealed = name === undefined && sealed.has(each.entry.actor);
        return { ...each, name, ...(isSealed && { isSealed }) };
      }),
      ...(isForward
        ? { after: next }
        : { cursor: next === undefined || next === 1 ? undefined : String(next) }),
    };
  }
}

function fits(
  { at, action, actor }: AuditEntry,
  query: AuditQuery,
  wanted: string | undefined,
): boolean {
  if (query.since !== undefined && at < query.since) return false;
  if (query.until !== undefined && at > query.until) return false;
  if (query.action !== undefined && action !== query.action) return false;
  return wanted === undefined || actor === wanted;
}

/** Reads a chain from its oldest entry; yields undefined for a malformed one. */
export async function* readChain(
  { redis, keys }: Pick<RedisContext, 'redis' | 'keys'>,
  tenant: string,
  pageSize: number,
): AsyncGenerator<StoredEntry | undefined> {
  let after = '-';
  for (;;) {
    const { chain } = keys.audit(tenant);
    const page = await redis.xrange(chain, after, '+', 'COUNT', pageSize);
    for (const [id, fields] of page) yield toStored(id, fields);
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < pageSize) return;
    after = `(${last}`;
  }
}

/** @throws HelixError `corrupt_record` for an entry that is no JSON */
export function parseEntry({ text }: Pick<StoredEntry, 'text'>): AuditEntry {
  return parseStored(text, 'audit entry') as AuditEntry;
}

/** Returns undefined for an entry that lacks a field. */
export function toStored(id: string, fields: readonly string[]): StoredEntry | undefined {
  const stored: Record<string, string | undefined> = {};
  for (let at = 0; at < fields.length; at += 2) stored[fields[at] ?? ''] = fields[at + 1];
  const { e: text, h: hash, m: mac } = stored;
  if (text === undefined || hash === undefined || mac === undefined) return undefined;
  return { n: Number(id.split('-')[0]), text, hash, mac };
}

function parseCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw new HelixError('validation_error', 'The cursor is not one that was returned.');
}

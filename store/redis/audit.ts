import { HelixError } from '../../protocol/errors.js';
import { rootOf, toShownSessionId } from '../../protocol/ids.js';
import type {
  Act,
  Audit,
  AuditEntry,
  AuditPage,
  AuditQuery,
  AuditVerdict,
  ChainedEntry,
} from '../contract/audit.js';
import { corrupt } from '../record/corrupt.js';
import { parseStored } from '../record/stored-json.js';
import {
  chainOn,
  checkChain,
  parseEntry,
  readChain,
  toStored,
  type Head,
  type StoredEntry,
} from './audit-chain.js';
import { createPeople } from './audit-people.js';
import type { RedisContext } from './context.js';
import { lowest } from './scored-list.js';
import { untilWritten, type Check, type Write } from './write-if.js';

/** Acts of one conversation that are relayed at once. */
const BATCH = 100;
/** Minimum time between two trims of a tenant's chain by one process. */
const TRIM_MS = 60_000;
/** Retention of entries' ids. An outbox that was not trimmed is relayed again long before. */
const SEEN_MS = 30 * 24 * 60 * 60 * 1000;
/** Number of sealed names that one trim drops; the others wait for the next. */
const MOST_NAMES = 500;
const READ_AT_ONCE = 200;
/** Limit on entries examined for one page. A query with few matches gets those, and a cursor. */
const MOST_LOOKS = 5_000;

/** Creates the audit trail: a chain for each tenant, in the tenant's own slot. */
export function createAudit(context: RedisContext): Audit {
  const { redis, keys, writeIf, now } = context;
  const { keys: signingKeys } = context.audit;
  const people = createPeople(context);
  const trimmedAt = new Map<string, number>();

  const actorOf = (tenant: string, act: Act): Promise<string | undefined> =>
    people.pseudonymOf(tenant, act.by, isOnOthers(act));

  async function readHead(tenant: string): Promise<Head & { from: Head }> {
    const names = ['n', 'hash', 'from', 'fromHash'];
    const [n, hash, from, fromHash] = await redis.hmget(keys.audit(tenant).head, ...names);
    const oldest = { n: Number(from ?? 0), hash: fromHash ?? '' };
    return { n: Number(n ?? 0), hash: hash ?? '', from: oldest };
  }

  /** @returns those that the chain did not have */
  async function append(tenant: string, entries: readonly AuditEntry[]): Promise<AuditEntry[]> {
    // A repeated act may be in an outbox twice.
    let left = [...new Map(entries.map((entry) => [entry.id, entry])).values()];
    // A try fails only if another relay succeeds.
    return untilWritten(async () => {
      if (left.length === 0) return [];
      const head = await readHead(tenant);
      const texts = left.map((entry) => JSON.stringify(entry));
      const chained = chainOn(head, texts, { tenant, keys: signingKeys });
      const added = chained.map((entry, at) => ({ ...entry, id: left[at]?.id ?? '' }));
      if (await chain(tenant, head, added)) {
        await trim(tenant);
        return left;
      }
      const { seen } = keys.audit(tenant);
      const known = await Promise.all(left.map(({ id }) => redis.zscore(seen, id)));
      left = left.filter((_, at) => known[at] === null);
      return undefined;
    });
  }

  /**
   * Appends entries, if the chain still ends at `last` and has none of them.
   *
   * @throws HelixError `corrupt_record` if entries that no relay wrote come after the head
   */
  async function chain(
    tenant: string,
    last: Head,
    entries: readonly (StoredEntry & { id: string })[],
  ): Promise<boolean> {
    const { head, chain: stream, seen } = keys.audit(tenant);
    const at = now();
    const [behind] = await redis.xrange(stream, `(${String(last.n)}-0`, '+', 'COUNT', 1);
    if (behind !== undefined) {
      const { n } = await readHead(tenant);
      if (n === last.n) throw corrupt('end of an audit trail');
      return false;
    }
    const [n, hash] = last.n === 0 ? ['', ''] : [String(last.n), last.hash];
    const checks: Check[] = [
      [n, 'HGET', head, 'n'],
      [hash, 'HGET', head, 'hash'],
      ...entries.map(({ id }): Check => ['', 'ZSCORE', seen, id]),
    ];
    const newest = entries.at(-1) ?? last;
    return writeIf(checks, [
      ...entries.map((entry): Write => {
        const fields = ['e', entry.text, 'h', entry.hash, 'm', entry.mac];
        return ['XADD', stream, `${String(entry.n)}-0`, ...fields];
      }),
      ...entries.map(({ id }): Write => ['ZADD', seen, at, id]),
      ['HSET', head, 'n', newest.n, 'hash', newest.hash],
      ['ZREMRANGEBYSCORE', seen, '-inf', at - SEEN_MS],
    ]);
  }

  async function trim(tenant: string): Promise<void> {
    const keptMs = context.audit.keptMs(tenant);
    if (keptMs === 0 || now() - (trimmedAt.get(tenant) ?? 0) < TRIM_MS) return;
    trimmedAt.set(tenant, now());
    let last: Head = { n: 0, hash: '' };
    for await (const stored of readChain(context, tenant)) {
      if (stored === undefined || parseEntry(stored).at >= now() - keptMs) break;
      last = stored;
    }
    await drop(tenant, last, now() - keptMs);
  }

  /** Drops the oldest entries up to `last`, whose hash is kept, and sealed names without a later act. */
  async function drop(tenant: string, last: Head, before: number): Promise<void> {
    const { head, chain: stream, acted, sealed } = keys.audit(tenant);
    const past = await lowest(redis, acted, before, MOST_NAMES);
    // A person who acts meanwhile is left to the next trim.
    await writeIf(
      past.map(({ member, text }): Check => [text, 'ZSCORE', acted, member]),
      past.flatMap(({ member }): Write[] => [
        ['HDEL', sealed, member],
        ['ZREM', acted, member],
      ]),
    );
    const from = await redis.hget(head, 'from');
    if (last.n <= Number(from ?? 0)) return;
    await writeIf(
      [[from ?? '', 'HGET', head, 'from']],
      [
        ['HSET', head, 'from', last.n, 'fromHash', last.hash],
        ['XTRIM', stream, 'MINID', `${String(last.n + 1)}-0`],
      ],
    );
  }

  /** Finds an entry after the head, which every append moves. */
  async function findStray(tenant: string): Promise<AuditVerdict['fault']> {
    const { chain } = keys.audit(tenant);
    const [newest] = await redis.xrevrange(chain, '+', '-', 'COUNT', 1);
    // The head is read after the entry, so entries appended meanwhile do not count.
    const head = await readHead(tenant);
    const [n = 0, part = 0] = (newest?.[0] ?? '').split('-').map(Number);
    const isStray = n > head.n || (n === head.n && part > 0);
    return isStray ? { n: head.n + 1, reason: 'unexpected' } : undefined;
  }

  /** Reads a page, newest entry first unless a reader follows the chain. */
  async function readPage(tenant: string, query: AuditQuery): Promise<AuditPage> {
    const { after, limit } = query;
    const isForward = after !== undefined;
    const actor = await people.find(tenant, query.actor);
    // A person without a key has no entries that could be found.
    if (query.actor !== undefined && actor === undefined)
      return { entries: [], ...(isForward && { after }) };
    const { chain } = keys.audit(tenant);
    const found: ChainedEntry[] = [];
    let at = after ?? parseCursor(query.cursor);
    let isOver = false;
    for (let looks = 0; looks < MOST_LOOKS && found.length < limit && !isOver;) {
      const from = at === undefined ? '+' : `(${String(at)}-0`;
      const page = await (isForward
        ? redis.xrange(chain, from, '+', 'COUNT', READ_AT_ONCE)
        : redis.xrevrange(chain, from, '-', 'COUNT', READ_AT_ONCE));
      looks += page.length;
      isOver = page.length < READ_AT_ONCE;
      for (const [id, fields] of page) {
        at = Number.parseInt(id, 10);
        const stored = toStored(id, fields);
        if (stored === undefined) continue;
        const entry = parseEntry(stored);
        if (fits(entry, query, actor)) found.push({ n: stored.n, entry });
        if (found.length < limit) continue;
        isOver = false;
        break;
      }
    }
    const actors = found.map(({ entry }) => entry.actor);
    const names = await people.namesOf(tenant, actors);
    const sealed = await people.sealedOf(tenant, actors);
    const entries = found.map((each) => {
      const name = names.get(each.entry.actor);
      const isSealed = name === undefined && sealed.has(each.entry.actor);
      return { ...each, name, ...(isSealed && { isSealed }) };
    });
    if (isForward) return { entries, after: at };
    const isLast = isOver || at === undefined || at === 1;
    return { entries, cursor: isLast ? undefined : String(at) };
  }

  return {
    relay: async (sessionId) => {
      const root = rootOf(sessionId);
      const outbox = keys.outbox(root);
      const relayed: AuditEntry[] = [];
      for (;;) {
        const waiting = await redis.lrange(outbox, 0, BATCH - 1);
        if (waiting.length === 0) return relayed;
        const target = { sessionId: toShownSessionId(root) };
        for (const [tenant, acts] of byTenant(waiting)) {
          const entries: AuditEntry[] = [];
          for (const act of acts) {
            entries.push(toEntry(act, target, await actorOf(tenant, act)));
          }
          relayed.push(...(await append(tenant, entries)));
        }
        // Acts are removed by text, since another process may relay the same outbox.
        for (const text of waiting) await redis.lrem(outbox, 1, text);
      }
    },
    record: async (act, { sessionId, person, sought, pseudonym }) => {
      const { tenant = '' } = act;
      const entry = toEntry(
        act,
        {
          sessionId: sessionId === undefined ? undefined : toShownSessionId(rootOf(sessionId)),
          person:
            pseudonym ??
            (await people.pseudonymOf(tenant, person, false)) ??
            (await people.find(tenant, sought)),
        },
        await actorOf(tenant, act),
      );
      return append(tenant, [entry]);
    },
    knows: async (tenant = '', id) => (await redis.zscore(keys.audit(tenant).seen, id)) !== null,
    page: (tenant = '', query) => readPage(tenant, query),
    verify: async (tenant = '') => {
      // The head is read first, so entries appended meanwhile are not checked.
      const { from, ...head } = await readHead(tenant);
      const chain = readChain(context, tenant);
      const checked = await checkChain(chain, { from, head, tenant, keys: signingKeys });
      const fault = checked.fault ?? (await findStray(tenant));
      return { ...checked, fault, ok: fault === undefined, first: from.n + 1 };
    },
    forget: (tenant = '', person) => people.forget(tenant, person),
    hasActedOnOthers: (tenant = '', person) => people.hasActedOnOthers(tenant, person),
    unseal: async (tenant = '', pseudonym) =>
      (await people.sealedOf(tenant, [pseudonym])).get(pseudonym),
    ask: (tenant = '', request) => people.ask(tenant, request),
    asked: (tenant = '') => people.asked(tenant),
  };
}

/** Groups acts by the tenant whose chain they belong to, in order. */
function byTenant(waiting: readonly string[]): Map<string, Act[]> {
  const acts = new Map<string, Act[]>();
  for (const text of waiting) {
    const act = parseStored(text, 'act') as Act;
    const { tenant = '' } = act;
    acts.set(tenant, [...(acts.get(tenant) ?? []), act]);
  }
  return acts;
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

function parseCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw new HelixError('validation_error', 'The cursor is not one that was returned.');
}

/**
 * Returns true for an act on another person's data. An erasure of the actor removes the actor's own data, but not the
 * fact of this act. Pure.
 */
export function isOnOthers({ by, owner }: Pick<Act, 'by' | 'owner'>): boolean {
  return by !== undefined && by !== owner;
}

/** Actor of an act by a rule, without a person. */
const RULE = 'rule';

/** Returns the entry of an act, with its fields in a fixed order, since the text is hashed. Pure. */
export function toEntry(
  act: Act,
  target: Pick<AuditEntry['target'], 'sessionId' | 'person'>,
  pseudonym: string | undefined,
): AuditEntry {
  const { id, at, roles, via = 'api', tenant, action, outcome = 'done' } = act;
  const { runId, toolCallId, toolName, inputHash, reasonHash, detail } = act;
  return {
    id,
    at,
    actor: pseudonym ?? RULE,
    roles: roles === undefined || roles.length === 0 ? undefined : roles,
    via,
    tenant: tenant === '' ? undefined : tenant,
    action,
    target: { ...target, runId, toolCallId, toolName },
    outcome,
    inputHash,
    reasonHash,
    detail,
  };
}

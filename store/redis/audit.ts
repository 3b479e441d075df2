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
import { chainOn, checkChain, parseEntry, readChain, toStored, type Head } from './audit-chain.js';
import { createPeople } from './audit-people.js';
import type { RedisContext } from './context.js';
import { lowest } from './scored-list.js';
import { untilWritten, type Check, type Write } from './write-if.js';

const BATCH = 100;
/** Minimum time between two trims of a tenant's chain by one process. */
const TRIM_MS = 60_000;
/** Retention of entries' ids. An outbox that was not trimmed is relayed again long before. */
const SEEN_MS = 30 * 24 * 60 * 60 * 1000;
/** Number of sealed names that one trim drops; the others wait for the next. */
const MAX_NAMES = 500;
const READ_AT_ONCE = 200;
/** Limit on entries examined for one page. A query with few matches gets those, and a cursor. */
const MAX_LOOKS = 5_000;

/** Creates the audit trail: a chain for each tenant, in the tenant's own slot. */
export function createAudit(context: RedisContext): Audit {
  const { redis, keys } = context;
  const trimmedAt = new Map<string, number>();
  const trailOf = (tenant = '') => createTrail(context, tenant, trimmedAt);
  const peopleOf = (tenant = '') => createPeople(context, tenant);

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
          relayed.push(...(await trailOf(tenant).add(acts, target)));
        }
        // Acts are removed by text, since another process may relay the same outbox.
        for (const text of waiting) await redis.lrem(outbox, 1, text);
      }
    },
    record: async (act, { sessionId, person, sought, pseudonym }) => {
      const people = peopleOf(act.tenant);
      const target = {
        sessionId: sessionId === undefined ? undefined : toShownSessionId(rootOf(sessionId)),
        person:
          pseudonym ?? (await people.pseudonymOf(person, false)) ?? (await people.find(sought)),
      };
      return trailOf(act.tenant).add([act], target);
    },
    knows: (tenant, id) => trailOf(tenant).knows(id),
    page: (tenant, query) => trailOf(tenant).page(query),
    verify: (tenant) => trailOf(tenant).verify(),
    forget: (tenant, person) => peopleOf(tenant).forget(person),
    hasActedOnOthers: (tenant, person) => peopleOf(tenant).hasActedOnOthers(person),
    unseal: async (tenant, pseudonym) =>
      (await peopleOf(tenant).sealedOf([pseudonym])).get(pseudonym),
    ask: (tenant, request) => peopleOf(tenant).ask(request),
    asked: (tenant) => peopleOf(tenant).asked(),
  };
}

/** @param trimmedAt time of this process's newest trim, by tenant */
function createTrail(context: RedisContext, tenant: string, trimmedAt: Map<string, number>) {
  const { redis, writeIf, now } = context;
  const { keys: signingKeys } = context.audit;
  const { head: headKey, chain, seen, acted, sealed } = context.keys.audit(tenant);
  const people = createPeople(context, tenant);
  const knows = async (id: string): Promise<boolean> => (await redis.zscore(seen, id)) !== null;

  async function readHead(): Promise<Head & { from: Head }> {
    const names = ['n', 'hash', 'from', 'fromHash'];
    const [n, hash, from, fromHash] = await redis.hmget(headKey, ...names);
    const oldest = { n: Number(from ?? 0), hash: fromHash ?? '' };
    return { n: Number(n ?? 0), hash: hash ?? '', from: oldest };
  }

  /** Appends acts. @returns the entries that the chain did not have */
  async function add(
    acts: readonly Act[],
    target: Pick<AuditEntry['target'], 'sessionId' | 'person'>,
  ): Promise<AuditEntry[]> {
    // A repeated act may be in an outbox twice.
    const entries = new Map<string, AuditEntry>();
    for (const act of acts) {
      const pseudonym = await people.pseudonymOf(act.by, isOnOthers(act));
      entries.set(act.id, toEntry(act, target, pseudonym));
    }
    let left = [...entries.values()];
    // A try fails only if another relay succeeds.
    return untilWritten(async () => {
      if (left.length === 0) return [];
      if (await append(left)) {
        await trim();
        return left;
      }
      const known = await Promise.all(left.map(({ id }) => knows(id)));
      left = left.filter((_, at) => known[at] !== true);
      return undefined;
    });
  }

  /**
   * Appends entries, unless another relay is faster or the chain has one of them.
   *
   * @throws HelixError `corrupt_record` if entries that no relay wrote come after the head
   */
  async function append(entries: readonly AuditEntry[]): Promise<boolean> {
    const last = await readHead();
    const texts = entries.map((entry) => JSON.stringify(entry));
    const chained = chainOn(last, texts, { tenant, keys: signingKeys });
    const at = now();
    const [behind] = await redis.xrange(chain, `(${String(last.n)}-0`, '+', 'COUNT', 1);
    if (behind !== undefined) {
      const { n } = await readHead();
      if (n === last.n) throw corrupt('end of an audit trail');
      return false;
    }
    const [n, hash] = last.n === 0 ? ['', ''] : [String(last.n), last.hash];
    const checks: Check[] = [
      [n, 'HGET', headKey, 'n'],
      [hash, 'HGET', headKey, 'hash'],
      ...entries.map(({ id }): Check => ['', 'ZSCORE', seen, id]),
    ];
    const newest = chained.at(-1) ?? last;
    return writeIf(checks, [
      ...chained.map((entry): Write => {
        const fields = ['e', entry.text, 'h', entry.hash, 'm', entry.mac];
        return ['XADD', chain, `${String(entry.n)}-0`, ...fields];
      }),
      ...entries.map(({ id }): Write => ['ZADD', seen, at, id]),
      ['HSET', headKey, 'n', newest.n, 'hash', newest.hash],
      ['ZREMRANGEBYSCORE', seen, '-inf', at - SEEN_MS],
    ]);
  }

  /** Drops entries that are too old, but keeps the hash of the last one, and sealed names without a later act. */
  async function trim(): Promise<void> {
    const keptMs = context.audit.keptMs(tenant);
    if (keptMs === 0 || now() - (trimmedAt.get(tenant) ?? 0) < TRIM_MS) return;
    trimmedAt.set(tenant, now());
    let last: Head = { n: 0, hash: '' };
    for await (const stored of readChain(context, tenant)) {
      if (stored === undefined || parseEntry(stored).at >= now() - keptMs) break;
      last = stored;
    }
    const past = await lowest(redis, acted, now() - keptMs, MAX_NAMES);
    // A person who acts meanwhile is left to the next trim.
    await writeIf(
      past.map(({ member, text }): Check => [text, 'ZSCORE', acted, member]),
      past.flatMap(({ member }): Write[] => [
        ['HDEL', sealed, member],
        ['ZREM', acted, member],
      ]),
    );
    const from = await redis.hget(headKey, 'from');
    if (last.n <= Number(from ?? 0)) return;
    await writeIf(
      [[from ?? '', 'HGET', headKey, 'from']],
      [
        ['HSET', headKey, 'from', last.n, 'fromHash', last.hash],
        ['XTRIM', chain, 'MINID', `${String(last.n + 1)}-0`],
      ],
    );
  }

  /** Finds an entry after the head, which every append moves. */
  async function findStray(): Promise<AuditVerdict['fault']> {
    const [newest] = await redis.xrevrange(chain, '+', '-', 'COUNT', 1);
    // The head is read after the entry, so entries appended meanwhile do not count.
    const head = await readHead();
    const [n = 0, part = 0] = (newest?.[0] ?? '').split('-').map(Number);
    const isStray = n > head.n || (n === head.n && part > 0);
    return isStray ? { n: head.n + 1, reason: 'unexpected' } : undefined;
  }

  /** Reads a page, newest entry first unless a reader follows the chain. */
  async function page(query: AuditQuery): Promise<AuditPage> {
    const { after, limit } = query;
    const isForward = after !== undefined;
    const actor = await people.find(query.actor);
    // A person without a key has no entries that could be found.
    if (query.actor !== undefined && actor === undefined)
      return { entries: [], ...(isForward && { after }) };
    const found: ChainedEntry[] = [];
    let at = after ?? parseCursor(query.cursor);
    let isOver = false;
    for (let looks = 0; looks < MAX_LOOKS && found.length < limit && !isOver;) {
      const from = at === undefined ? '+' : `(${String(at)}-0`;
      const read = await (isForward
        ? redis.xrange(chain, from, '+', 'COUNT', READ_AT_ONCE)
        : redis.xrevrange(chain, from, '-', 'COUNT', READ_AT_ONCE));
      looks += read.length;
      isOver = read.length < READ_AT_ONCE;
      for (const [id, fields] of read) {
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
    const names = await people.namesOf(actors);
    const sealedNames = await people.sealedOf(actors);
    const entries = found.map((each) => {
      const name = names.get(each.entry.actor);
      const isSealed = name === undefined && sealedNames.has(each.entry.actor);
      return { ...each, name, ...(isSealed && { isSealed }) };
    });
    if (isForward) return { entries, after: at };
    const isLast = isOver || at === undefined || at === 1;
    return { entries, cursor: isLast ? undefined : String(at) };
  }

  async function verify(): Promise<AuditVerdict> {
    // The head is read first, so entries appended meanwhile are not checked.
    const { from, ...head } = await readHead();
    const stored = readChain(context, tenant);
    const checked = await checkChain(stored, { from, head, tenant, keys: signingKeys });
    const fault = checked.fault ?? (await findStray());
    // Entries that were trimmed meanwhile are not missing.
    if (fault !== undefined && (await readHead()).from.n !== from.n) return verify();
    return { ...checked, fault, ok: fault === undefined, first: from.n + 1 };
  }

  return { add, knows, page, verify };
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

function fits({ at, action, actor }: AuditEntry, query: AuditQuery, wanted: string | undefined) {
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

/** Returns true for an act on another person's data: an erasure of the actor does not remove the fact of it. Pure. */
export function isOnOthers({ by, owner }: Pick<Act, 'by' | 'owner'>): boolean {
  return by !== undefined && by !== owner;
}

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

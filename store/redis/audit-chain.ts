import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AuditEntry, AuditFault, AuditVerdict } from '../contract/audit.js';
import { parseStored } from '../record/stored-json.js';
import type { RedisContext } from './context.js';

export interface StoredEntry {
  n: number;
  /** The entry as JSON; the hash covers this text. */
  text: string;
  hash: string;
  /** Signature of the hash; '' if the writer had no key. */
  mac: string;
}

/** The newest entry of a chain; number 0 and hash '' before the first. */
export type Head = Pick<StoredEntry, 'n' | 'hash'>;

export function hashOf(before: string, n: number, text: string): string {
  return createHash('sha256')
    .update(`${before}\n${String(n)}\n${text}`)
    .digest('base64url');
}

/** Signs an entry, so only holders of the key can write a chain that verifies. */
export function sign(key: string, tenant: string, n: number, hash: string): string {
  return createHmac('sha256', key)
    .update(`${tenant}\n${String(n)}\n${hash}`)
    .digest('base64url');
}

export function chainOn(
  head: Head,
  texts: readonly string[],
  { tenant, keys: [key] }: { tenant: string; keys: readonly string[] },
): StoredEntry[] {
  let { n, hash } = head;
  return texts.map((text) => {
    n += 1;
    hash = hashOf(hash, n, text);
    return { n, text, hash, mac: key === undefined ? '' : sign(key, tenant, n, hash) };
  });
}

interface Checked {
  /** The dropped entry before the oldest one. */
  from: Head;
  /** The newest entry, as noted separately. */
  head: Head;
  tenant: string;
  /** Signature keys, newest first; without keys, signatures are not checked. */
  keys: readonly string[];
}

/** Checks a chain up to its head, oldest entry first, up to the first one that differs from what was written. */
export async function checkChain(
  stored: AsyncIterable<StoredEntry | undefined>,
  { from, head, tenant, keys }: Checked,
): Promise<Omit<AuditVerdict, 'ok' | 'first'>> {
  let last = from;
  let entries = 0;
  let signed = 0;
  let isSigned = true;

  function reasonOf({ n, text, hash, mac }: StoredEntry): AuditFault | undefined {
    if (n !== last.n + 1) return 'missing';
    if (hash !== hashOf(last.hash, n, text)) return 'changed';
    isSigned = mac !== '';
    if (!isSigned) return signed > 0 && keys.length > 0 ? 'unsigned' : undefined;
    if (keys.length === 0) return undefined;
    if (!keys.some((key) => isSame(mac, sign(key, tenant, n, hash)))) return 'signature';
    signed += 1;
    return undefined;
  }

  async function findFault(): Promise<AuditVerdict['fault']> {
    for await (const entry of stored) {
      if (last.n >= head.n) break;
      const reason = entry === undefined ? 'malformed' : reasonOf(entry);
      if (entry === undefined || reason !== undefined)
        return { n: last.n + 1, reason: reason ?? 'malformed' };
      entries += 1;
      last = entry;
    }
    if (last.n !== head.n) return { n: Math.min(last.n, head.n) + 1, reason: 'missing' };
    if (last.hash !== head.hash) return { n: last.n, reason: 'changed' };
    return keys.length > 0 && last.n > 0 && !isSigned
      ? { n: last.n, reason: 'unsigned' }
      : undefined;
  }

  const fault = await findFault();
  return { entries, signed, head: last.hash, fault };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const PAGE = 500;

/** Reads a chain from its oldest entry; yields undefined for a malformed one. */
export async function* readChain(
  { redis, keys }: Pick<RedisContext, 'redis' | 'keys'>,
  tenant: string,
): AsyncGenerator<StoredEntry | undefined> {
  const { chain } = keys.audit(tenant);
  let after = '-';
  for (;;) {
    const page = await redis.xrange(chain, after, '+', 'COUNT', PAGE);
    for (const [id, fields] of page) yield toStored(id, fields);
    const last = page.at(-1)?.[0];
    if (last === undefined || page.length < PAGE) return;
    after = `(${last}`;
  }
}

export function toStored(id: string, fields: readonly string[]): StoredEntry | undefined {
  const stored: Record<string, string | undefined> = {};
  for (let at = 0; at < fields.length; at += 2) stored[fields[at] ?? ''] = fields[at + 1];
  const { e: text, h: hash, m: mac } = stored;
  if (text === undefined || hash === undefined || mac === undefined) return undefined;
  return { n: Number.parseInt(id, 10), text, hash, mac };
}

/** @throws HelixError `corrupt_record` for an entry that is no JSON */
export function parseEntry({ text }: StoredEntry): AuditEntry {
  return parseStored(text, 'audit entry') as AuditEntry;
}

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { AuditFault } from '../contract/audit.js';

/** A stored entry of a chain. */
export interface StoredEntry {
  n: number;
  /** The entry as JSON; the hash covers this text. */
  text: string;
  hash: string;
  /** Signature of the hash; '' if the writer had no key. */
  mac: string;
}

/** The newest entry of a chain; number 0 and hash '' before the first. */
export interface Head {
  n: number;
  hash: string;
}

export const NO_HEAD: Head = { n: 0, hash: '' };

/** Hashes the previous entry's hash with an entry's number and text. Pure. */
export function hashOf(before: string, n: number, text: string): string {
  return createHash('sha256')
    .update(`${before}\n${String(n)}\n${text}`)
    .digest('base64url');
}

/** Signs an entry, so only holders of the key can write a chain that verifies. Pure. */
export function sign(key: string, tenant: string, n: number, hash: string): string {
  return createHmac('sha256', key)
    .update(`${tenant}\n${String(n)}\n${hash}`)
    .digest('base64url');
}

/** Chains entries on a head. Pure. */
export function chainOn(
  head: Head,
  texts: readonly string[],
  { tenant, keys }: { tenant: string; keys: readonly string[] },
): StoredEntry[] {
  const [key] = keys;
  let { n, hash } = head;
  return texts.map((text) => {
    n += 1;
    hash = hashOf(hash, n, text);
    return { n, text, hash, mac: key === undefined ? '' : sign(key, tenant, n, hash) };
  });
}

/**
 * Checks a chain entry by entry, oldest first, holding one entry at a time.
 *
 * @param from the dropped entry before the oldest one
 * @param keys signature keys, newest first; without keys, signatures are not checked
 */
export function checkChain(from: Head, tenant: string, keys: readonly string[]) {
  let last = from;
  let checked = 0;
  let signed = 0;
  let fault: { n: number; reason: AuditFault } | undefined;
  let lastIsSigned = true;

  function reasonOf({ n, text, hash, mac }: StoredEntry): AuditFault | undefined {
    if (n !== last.n + 1) return 'missing';
    if (hash !== hashOf(last.hash, n, text)) return 'changed';
    lastIsSigned = mac !== '';
    if (mac === '') return signed > 0 && keys.length > 0 ? 'unsigned' : undefined;
    if (keys.length === 0) return undefined;
    if (!keys.some((key) => isSame(mac, sign(key, tenant, n, hash)))) return 'signature';
    signed += 1;
    return undefined;
  }

  return {
    /** Returns false for an entry that differs from what was written. Later entries are not checked. */
    accept: (stored: StoredEntry | undefined): boolean => {
      const reason = stored === undefined ? 'malformed' : reasonOf(stored);
      if (stored === undefined || reason !== undefined) {
        fault = { n: last.n + 1, reason: reason ?? 'malformed' };
        return false;
      }
      checked += 1;
      last = { n: stored.n, hash: stored.hash };
      return true;
    },
    get checked() {
      return checked;
    },
    get signed() {
      return signed;
    },
    get last() {
      return last;
    },
    /** Returns the fault so far, or the chain's difference from the separately noted head. */
    fault: (head: Head): { n: number; reason: AuditFault } | undefined => {
      if (fault !== undefined) return fault;
      if (last.n !== head.n) return { n: Math.min(last.n, head.n) + 1, reason: 'missing' };
      if (last.hash !== head.hash) return { n: last.n, reason: 'changed' };
      if (keys.length > 0 && last.n > 0 && !lastIsSigned) return { n: last.n, reason: 'unsigned' };
      return undefined;
    },
  };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

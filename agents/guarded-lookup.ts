import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Private networks; link-local addresses, such as those of a cloud's metadata, are excluded. */
const PRIVATE: ReadonlySet<string> = new Set([
  'private',
  'uniqueLocal',
  'carrierGradeNat',
  'loopback',
]);

export interface HostRule {
  /** True if the author named this host. */
  isNamed: boolean;
  /** True if the settings of a named host allow a private network. */
  isPrivate: boolean;
}

/** Returns true if a connection to this address of the host is permitted. Pure. */
export function isPermitted(host: string, address: string, rule: HostRule): boolean {
  const range = ipaddr.process(address).range();
  if (range === 'unicast') return true;
  if (!rule.isNamed) return false;
  if (isIP(host) !== 0) return true;
  if (host === 'localhost') return range === 'loopback';
  return rule.isPrivate && PRIVATE.has(range);
}

/**
 * Returns false if the URL has an address in place of a name and a connection to it is not permitted. Sockets do
 * not look addresses up, so this is checked besides `guardedLookup`. Pure.
 */
export function isPermittedUrl({ hostname }: URL, rule: HostRule): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 || isPermitted(host, host, rule);
}

/**
 * Resolves a name for sockets, to permitted addresses only, so that no answer can change later.
 *
 * @param refused creates the error for a name without permitted addresses
 */
export function guardedLookup(rule: HostRule, refused: () => Error): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const permitted = found.filter(({ address }) => isPermitted(host, address, rule));
      const [first] = permitted;
      if (first === undefined) callback(refused(), []);
      else if (options.all === true) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

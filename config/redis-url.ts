const HOST = String.raw`(?:\[[0-9a-f:.]+\]|[^\s:@,/?#[\]]+)(?::\d{1,5})?`;
/** Names of PEM files, see stores/redis/addresses.ts. */
const FILES = String.raw`(?:\?(?:ca|cert|key)=[^&\s]+(?:&(?:ca|cert|key)=[^&\s]+)*)?`;
const USER = String.raw`(?:[^\s@/]*@)?`;
/**
 * Several hosts: some nodes of a cluster, or Sentinels and the name of the master that they watch.
 */
const MANY_HOSTS = new RegExp(
  `^rediss?-(?:cluster://${USER}${HOST}(?:,${HOST})*/?${FILES}|` +
    String.raw`sentinel://${USER}${HOST}(?:,${HOST})*/[\w.-]+(?:/\d{1,4})?${FILES})$`,
  'i',
);

/**
 * Part of the error for a malformed address; it does not repeat the address, which may contain a
 * password.
 */
export const REDIS_URL_FORMS =
  'must be redis://host:port, redis-cluster://host:port,… or ' +
  'redis-sentinel://host:port,…/<master> (rediss… for TLS, with ?ca=…&cert=…&key=… for files)';

/** True for an address that the Redis stores can connect to. */
export function isRedisUrl(text: string): boolean {
  return (/^rediss?:\/\//.test(text) && URL.canParse(text)) || MANY_HOSTS.test(text);
}

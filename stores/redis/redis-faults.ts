/** What keeps a process from using Redis, and what to do about it; names the setting. */
export interface RedisFault {
  finding: string;
  fix: string;
}

const DEMANDED =
  'Where it demands a certificate, ?cert=<file>&key=<file> behind the address names yours.';

/** What a user of Redis without rights needs. */
export const RIGHTS_FIX =
  'Give the user of REDIS_URL the rights that docs/redis.md lists (ACL SETUSER).';

/** Why there is no connection. Pure. */
export function toRedisFault(address: string, reason: string): RedisFault {
  if (/WRONGPASS|NOAUTH|credentials/.test(reason)) {
    return {
      finding: `Redis at ${address} does not accept the credentials.`,
      fix: 'Correct user and password in REDIS_URL.',
    };
  }
  if (/NOPERM|may not use/.test(reason)) return { finding: `${reason}.`, fix: RIGHTS_FIX };
  if (/certificate (?:has expired|is not yet valid)/i.test(reason)) {
    return {
      finding: `The certificate of Redis at ${address} is not valid today: ${reason}.`,
      fix: 'Renew it on that server; or correct the clock of this machine.',
    };
  }
  // A server that is not there is named in the reason, and its name may be `redis-tls`.
  const isFound = !/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(reason);
  if (isFound && /certificate|SSL|TLS|wrong version/i.test(reason)) {
    return {
      finding: `Redis at ${address} cannot be reached by TLS: ${reason}.`,
      fix: `Use rediss:// in REDIS_URL for TLS and redis:// without; NODE_EXTRA_CA_CERTS names an own authority. ${DEMANDED}`,
    };
  }
  const fix = 'Start it, or correct REDIS_URL: redis:// without TLS, rediss:// where it wants TLS.';
  return {
    finding: `Redis at ${address} cannot be reached: ${reason}.`,
    // Its refusal may come after the connection was closed.
    fix: address.startsWith('rediss') ? `${fix} ${DEMANDED}` : fix,
  };
}

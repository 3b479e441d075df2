import type * as jose from 'jose';

/** Age from which the set is fetched again, so that a withdrawn key does not count for longer. */
const FRESH_MS = 10 * 60 * 1000;
/** Age up to which the known keys count while the issuer cannot be reached. */
const KNOWN_MS = 60 * 60 * 1000;
/** A fetch that failed is not repeated for this long, whatever tokens arrive. */
const AGAIN_MS = 1_000;
const COOLDOWN_MS = 30_000;
const KEY_SET_BYTES = 1024 * 1024;

/**
 * Finds keys in an issuer's key set, and fetches the set when it must.
 *
 * @param cooldownMs least time between two fetches for unknown keys
 */
export function openKeySet(
  { createRemoteJWKSet, customFetch, errors }: typeof jose,
  url: URL,
  cooldownMs = COOLDOWN_MS,
): (...token: Parameters<jose.JWTVerifyGetKey>) => Promise<jose.CryptoKey> {
  // While fetches fail, jose would fetch again for each token, and would drop its keys after ten minutes.
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: Infinity,
    cooldownDuration: Infinity,
    [customFetch]: fetchKeys,
  });
  let fetchedAt = -Infinity;
  let failure: { at: number; error: unknown } | undefined;

  async function refresh(): Promise<void> {
    if (failure !== undefined && performance.now() - failure.at < AGAIN_MS) throw failure.error;
    try {
      await keys.reload();
      fetchedAt = performance.now();
      failure = undefined;
    } catch (error) {
      failure = { at: performance.now(), error };
      throw error;
    }
  }

  return async (header, token) => {
    const age = performance.now() - fetchedAt;
    if (age >= FRESH_MS) {
      await refresh().catch((error: unknown) => {
        if (age >= KNOWN_MS) throw error;
      });
    }
    try {
      return await keys(header, token);
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || performance.now() - fetchedAt < cooldownMs) throw error;
      await refresh();
      return keys(header, token);
    }
  };
}

const fetchKeys: jose.FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  const pieces: Uint8Array[] = [];
  let received = 0;
  for await (const bytes of response.body ?? []) {
    received += bytes.length;
    if (received > KEY_SET_BYTES) throw new Error('the key set is too large');
    pieces.push(bytes);
  }
  return new Response(Buffer.concat(pieces), response);
};

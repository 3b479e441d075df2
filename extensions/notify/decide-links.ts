import type * as jose from 'jose';
import { z } from 'zod';
import { ROLES } from '../../protocol/actor.js';
import { HelixError, orMissing } from '../../protocol/errors.js';

/** Validity of a link, ms. A link does not carry the call's deadline, which may move: the record has it. */
const LINK_MS = 7 * 24 * 60 * 60_000;
const AUDIENCE = 'helix-temporal:decide';
const ALGORITHM = 'HS256';

/** @throws MissingPackageError */
export const loadJose = (): Promise<typeof jose> =>
  import('jose').catch(orMissing('A link to decide', 'jose@6'));

const Claims = z.object({
  sub: z.string(),
  tenant: z.string().optional(),
  person: z.string().optional(),
  roles: z.array(z.enum(ROLES)),
  sessionId: z.string(),
  runId: z.string(),
  toolCallId: z.string(),
  inputHash: z.string(),
  exp: z.number(),
});
/** Claims of a link: one person may decide one call until the link expires. */
export type LinkClaims = Omit<z.infer<typeof Claims>, 'exp'>;

/**
 * Returns a link to the page that decides a call.
 * @param now time of sending, ms since the epoch
 */
export async function toDecideUrl(
  publicUrl: string,
  key: string,
  claims: LinkClaims,
  now = Date.now(),
): Promise<string> {
  const { SignJWT } = await loadJose();
  const { sub, ...call } = claims;
  const token = await new SignJWT(call)
    .setProtectedHeader({ alg: ALGORITHM })
    .setSubject(sub)
    .setAudience(AUDIENCE)
    .setExpirationTime(Math.floor((now + LINK_MS) / 1_000))
    .sign(toKey(key));
  return `${publicUrl}/api/decide?token=${token}`;
}

/**
 * @throws HelixError `unauthorized` for a token that none of the keys signed, `expired`
 */
export async function readLink(keys: readonly string[], token: string): Promise<LinkClaims> {
  const { errors, jwtVerify } = await loadJose();
  for (const key of keys) {
    try {
      const options = { audience: AUDIENCE, algorithms: [ALGORITHM] };
      const { payload } = await jwtVerify(token, toKey(key), options);
      const claims = Claims.safeParse(payload);
      if (claims.success) return claims.data;
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        throw new HelixError(
          'expired',
          'The time of this link is over. The question may still wait.',
        );
      }
    }
  }
  throw new HelixError('unauthorized', 'This link is not valid.');
}

function toKey(key: string): Uint8Array {
  return new TextEncoder().encode(key);
}

import { generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { createJwtAuthenticator, type JwtOptions } from '../../../extensions/jwt/index.js';
import { startApi, type ApiServer } from '../../api/api-server.js';

/** Long enough for an HMAC key. */
export const SECRET = 'a secret of thirty-two bytes, at least';
export const hmac = new TextEncoder().encode(SECRET);

export interface KeyPair {
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

export function newKeyPair(): Promise<KeyPair> {
  return generateKeyPair('ES256', { extractable: true });
}

/** A server that requires a token. */
export function startWith(options: JwtOptions): Promise<ApiServer> {
  return startApi({
    defaultAgent: 'lab',
    allowUnauthenticated: false,
    authenticate: createJwtAuthenticator(options),
  });
}

/** A token of ann for five minutes. */
export function sign(
  claims: Record<string, unknown> = {},
  key: CryptoKey | Uint8Array = hmac,
  header: { alg: string; kid?: string } = { alg: 'HS256' },
): Promise<string> {
  return new SignJWT({ sub: 'ann', aud: 'chat', iss: 'https://id.test', ...claims })
    .setProtectedHeader(header)
    .setIssuedAt()
    .setExpirationTime((claims['exp'] as number | undefined) ?? '5m')
    .sign(key);
}

export const bearer = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/** Status and code of a request that needs a sign-in: 404 with one, 401 or 503 without. */
export async function ask(
  server: ApiServer,
  headers: Record<string, string>,
): Promise<[number, string]> {
  const response = await server.get('/api/chat/nothing/snapshot', headers);
  return [response.status, ((await response.json()) as { code: string }).code];
}
export const SIGNED_IN: [number, string] = [404, 'not_found'];
export const REFUSED: [number, string] = [401, 'unauthorized'];

import { createServer } from 'node:http';
import {
  exportJWK,
  exportPKCS8,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
  type CryptoKey,
} from 'jose';
import { toStoredSessionId } from '../../../ai-sdk/index.js';
import type { Identity } from '../../../api/index.js';
import { createJwtAuthenticator, type JwtOptions } from '../../../extensions/jwt/index.js';
import { say, startApi, type ApiServer } from '../../api/api-server.js';
import { listen } from '../../support/listen.js';
import { SECRET } from '../../support/people.js';

const hmac = new TextEncoder().encode(SECRET);

interface KeyPair {
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

function newKeyPair(): Promise<KeyPair> {
  return generateKeyPair('ES256', { extractable: true });
}

/** A server that requires a token. */
function startWith(options: JwtOptions): Promise<ApiServer> {
  return startApi({
    defaultAgent: 'lab',
    allowUnauthenticated: false,
    authenticate: createJwtAuthenticator(options),
  });
}

/** A token of ann for five minutes. */
function sign(
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

const bearer = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/** Status and code of a request that needs a sign-in: 404 with one, 401 or 503 without. */
async function ask(server: ApiServer, headers: Record<string, string>): Promise<[number, string]> {
  const response = await server.get('/api/chat/nothing/snapshot', headers);
  return [response.status, ((await response.json()) as { code: string }).code];
}
const SIGNED_IN: [number, string] = [404, 'not_found'];
const REFUSED: [number, string] = [401, 'unauthorized'];

interface Issuer {
  url: string;
  /** What it publishes; undefined: an error. */
  keys: { kid: string; key: CryptoKey }[] | undefined;
  asked: number;
  /** Bytes beside them. */
  padding: number;
  close: () => Promise<void>;
}

/** Publishes keys, as an identity provider does. */
async function startIssuer(): Promise<Issuer> {
  const server = createServer((_request, response) => {
    issuing.asked += 1;
    const { keys } = issuing;
    if (keys === undefined) {
      response.writeHead(500).end('broken');
      return;
    }
    void Promise.all(keys.map(async ({ kid, key }) => ({ ...(await exportJWK(key)), kid }))).then(
      (published) =>
        response.end(JSON.stringify({ keys: published, padding: ' '.repeat(issuing.padding) })),
    );
  });
  const { url, close } = await listen(server);
  const issuing: Issuer = { url: `${url}/keys`, keys: [], asked: 0, padding: 0, close };
  return issuing;
}

let first: KeyPair;
let second: KeyPair;
beforeAll(async () => {
  [first, second] = await Promise.all([newKeyPair(), newKeyPair()]);
});

describe('tokens with a shared secret', () => {
  it('a valid token signs its user in', async () => {
    const server = await startWith({ secret: SECRET });
    expect(await ask(server, { authorization: `bearer ${await sign()}` })).toEqual(SIGNED_IN);
  });

  it('tokens keep users and tenants apart', async () => {
    const api = await startWith({ secret: SECRET, userClaim: 'email', tenantClaim: 'org' });
    const owner = await sign({ email: 'ann@a.test', org: 'acme' });
    const stop = new AbortController();
    await fetch(`${api.url}/api/chat/s1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(owner) },
      body: JSON.stringify({ messages: [say('u1', 'hi')] }),
      signal: stop.signal,
    });
    stop.abort();
    const stored = await api.stores.store.sessions.read(toStoredSessionId('s1', 'acme'));
    expect(stored).toMatchObject({ owner: 'ann@a.test', tenant: 'acme' });
  });

  const bad: [string, () => Promise<Record<string, string>> | Record<string, string>][] = [
    ['no token', () => ({})],
    ['an empty one', () => ({ authorization: 'Bearer ' })],
    ['another scheme', async () => ({ authorization: `Basic ${await sign()}` })],
    ['what is no token', () => bearer('a.b.c')],
    ['one that has expired', async () => bearer(await sign({ exp: 1_000_000 }))],
    ['one that is not valid yet', async () => bearer(await sign({ nbf: 4_000_000_000 }))],
    ['one for another audience', async () => bearer(await sign({ aud: 'shop' }))],
    ['one without an audience', async () => bearer(await sign({ aud: undefined }))],
    ['one of another issuer', async () => bearer(await sign({ iss: 'https://evil.test' }))],
    [
      'one of another key',
      async () => bearer(await sign({}, new TextEncoder().encode(SECRET.toUpperCase()))),
    ],
    ['one without a user', async () => bearer(await sign({ sub: '' }))],
    ['one with a number for a user', async () => bearer(await sign({ sub: 7 }))],
    ['one with a user without end', async () => bearer(await sign({ sub: 'x'.repeat(257) }))],
    ['one with a list of tenants', async () => bearer(await sign({ tenant_id: ['a', 'b'] }))],
    ['one without a signature', () => bearer(new UnsecuredJWT({ sub: 'ann' }).encode())],
    [
      'a larger hash than was agreed on',
      async () => bearer(await sign({}, hmac, { alg: 'HS512' })),
    ],
    ['one in a cookie, when none is looked at', async () => ({ cookie: `token=${await sign()}` })],
  ];

  it.each(bad)('the authenticator refuses %s', async (_name, headers) => {
    const server = await startWith({
      secret: SECRET,
      audience: 'chat',
      issuer: ['https://id.test'],
      algorithms: ['HS256'],
    });
    expect(await ask(server, bearer(await sign()))).toEqual(SIGNED_IN);
    expect(await ask(server, await headers())).toEqual(REFUSED);
    const response = await server.get('/api/sessions', await headers());
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.text()).not.toMatch(/exp|aud|signature|claim/i);
  });

  it('a token that was revoked is refused, and one of which nothing can be known has to wait', async () => {
    const isAway = (): Promise<boolean> => Promise.reject(new Error('the list is away'));
    const server = await startWith({
      secret: SECRET,
      revoked: ({ jti }) => (jti === 'lost' ? isAway() : jti === 'old'),
    });
    const answerTo = async (jti: string): Promise<unknown> =>
      ask(server, bearer(await sign({ jti })));
    expect(await answerTo('new')).toEqual(SIGNED_IN);
    expect(await answerTo('old')).toEqual(REFUSED);
    expect(await answerTo('lost')).toEqual([503, 'unavailable']);
  });

  it('a token is accepted within the clock tolerance', async () => {
    const late = Math.floor(Date.now() / 1000) - 20;
    const server = await startWith({ secret: SECRET, clockToleranceSeconds: 60 });
    expect(await ask(server, bearer(await sign({ exp: late })))).toEqual(SIGNED_IN);
  });
});

it('only a token that was signed with the private key is accepted', async () => {
  const pem = await exportSPKI(first.publicKey);
  const server = await startWith({ publicKey: pem });
  const es = { alg: 'ES256' };
  expect(await ask(server, bearer(await sign({}, first.privateKey, es)))).toEqual(SIGNED_IN);
  expect(await ask(server, bearer(await sign({}, second.privateKey, es)))).toEqual(REFUSED);
  // The oldest trick: the attacker signs with the public key as an HMAC secret.
  const forged = await sign({}, new TextEncoder().encode(pem));
  expect(await ask(server, bearer(forged))).toEqual(REFUSED);
});
it('a token in a cookie counts only without a header and for pages of this site', async () => {
  const server = await startWith({ secret: SECRET, cookie: 'token' });
  const cookie = `a=b; token=${await sign()}; tokens=x`;
  expect(await ask(server, { cookie })).toEqual(SIGNED_IN);
  for (const authorization of ['Bearer bad', 'Bearer ', 'Basic YTpi', '']) {
    expect(await ask(server, { cookie, authorization })).toEqual(REFUSED);
  }

  const stop = async (headers: Record<string, string>): Promise<number> => {
    const response = await server.post('/api/chat/s1/stop', {}, { cookie, ...headers });
    await response.text();
    return response.status;
  };
  expect(await stop({ 'sec-fetch-site': 'same-origin', origin: server.url })).toBe(404);
  expect(await stop({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' })).toBe(401);
  expect(await stop({ 'sec-fetch-site': 'same-site', origin: 'https://x.a.test' })).toBe(401);
  expect(await stop({ origin: 'https://evil.test' })).toBe(401);
  expect(await stop({ origin: 'null' })).toBe(401);
  expect(await stop({ origin: server.url })).toBe(404);
});

it.each<[string, JwtOptions]>([
  ['no key', {}],
  ['two keys', { secret: SECRET, jwksUrl: 'https://id.test/keys' }],
  ['a short secret', { secret: 'x'.repeat(31) }],
  ['a secret and an algorithm of signatures', { secret: SECRET, algorithms: ['RS256'] }],
  ['keys and an algorithm of secrets', { jwksUrl: 'https://i.test', algorithms: ['HS256'] }],
  ['the algorithm none', { secret: SECRET, algorithms: ['none'] }],
  ['a malformed key', { publicKey: 'key' }],
])('createJwtAuthenticator throws for %s', (_name, options) =>
  expect(() => createJwtAuthenticator(options)).toThrow(),
);

async function identify(
  claims: Record<string, unknown>,
  options: JwtOptions = {},
): Promise<Identity | undefined> {
  const authenticate = createJwtAuthenticator({ secret: SECRET, ...options });
  const token = await sign(claims);
  const request = { get: () => `Bearer ${token}` } as unknown as Parameters<typeof authenticate>[0];
  return authenticate(request);
}

it('the identity of a token expires with it', async () => {
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const identity = await identify({ exp }, { clockToleranceSeconds: 7 });
  expect(identity).toMatchObject({ userId: 'ann', expiresAt: (exp + 7) * 1_000 });
  expect(await identify({ exp })).toMatchObject({ expiresAt: (exp + 5) * 1_000 });
});

it('the names in a claim are a list, or words in one text', async () => {
  const identity = await identify(
    { roles: 'viewer operator', helps: ['acme', 7] },
    { tenantsClaim: 'helps' },
  );
  expect(identity).toMatchObject({ roles: ['viewer', 'operator'], tenants: ['acme'] });
});

describe('the person of a token', () => {
  const [t1, hq] = [{ tenant_id: 't1' }, { tenant_id: 'hq', iss: 'https://a.test' }];
  const email = { personClaim: 'email' };
  it.each<
    [
      what: string,
      one: Record<string, unknown>,
      other: Record<string, unknown>,
      options: JwtOptions,
      isSame: boolean,
    ]
  >([
    ['one subject of one issuer in two tenants', t1, { tenant_id: 'hq' }, {}, true],
    ['one subject of two issuers', { ...t1, iss: 'https://b.test' }, hq, {}, false],
    ['two subjects', t1, { sub: 'bob' }, {}, false],
    [
      'two with one value of the claim',
      { email: 'e' },
      { ...hq, sub: 'x', email: 'e' },
      email,
      true,
    ],
    ['one with two values of the claim', { email: 'e' }, { email: 'f' }, email, false],
  ])('is the same for %s: %#', async (_what, one, other, options, isSame) => {
    const ids = [await identify(one, options), await identify(other, options)];
    const [first, second] = ids.map((identity) => identity?.personId);
    expect(first).toMatch(/^[\w-]{22}$/);
    expect(first === second).toBe(isSame);
  });

  it('is demanded where a claim names it', async () => {
    for (const claims of [{}, { email: 7 }, { email: '' }]) {
      await expect(identify(claims, email)).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });
});

describe('tokens of an issuer with a key set', () => {
  let issuing: Issuer;
  beforeEach(async () => {
    issuing = await startIssuer();
  });

  const signFor = (kid: string, key: KeyPair): Promise<string> =>
    sign({}, key.privateKey, { alg: 'ES256', kid });

  /** The clock of key sets, ms ahead. */
  let ahead = 0;
  beforeEach(() => {
    ahead = 0;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('a token is verified with the key that it names, which is fetched once', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url });
    for (let n = 0; n < 3; n += 1) {
      expect(await ask(server, bearer(await signFor('one', first)))).toEqual(SIGNED_IN);
    }
    expect(await ask(server, bearer(await signFor('one', second)))).toEqual(REFUSED);
    expect(issuing.asked).toBe(1);
  });

  it('a token may be signed with a new key as soon as it is published', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url, jwksCooldownMs: 0 });
    expect(await ask(server, bearer(await signFor('one', first)))).toEqual(SIGNED_IN);
    expect(await ask(server, bearer(await signFor('two', second)))).toEqual(REFUSED);
    issuing.keys = [{ kid: 'two', key: second.publicKey }];
    expect(await ask(server, bearer(await signFor('two', second)))).toEqual(SIGNED_IN);
    expect(await ask(server, bearer(await signFor('one', first)))).toEqual(REFUSED);
  });

  it('tokens with unknown keys do not fetch the set repeatedly', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url });
    for (const kid of ['a', 'b', 'c', 'd']) {
      expect(await ask(server, bearer(await signFor(kid, second)))).toEqual(REFUSED);
    }
    expect(issuing.asked).toBe(1);
  });

  it('a token that several keys may have signed is refused', async () => {
    issuing.keys = ['one', 'two'].map((kid) => ({ kid, key: first.publicKey }));
    const server = await startWith({ jwksUrl: issuing.url });
    const token = await sign({}, first.privateKey, { alg: 'ES256' });
    expect(await ask(server, bearer(token))).toEqual(REFUSED);
  });

  it('a token gets 503 while the key set cannot be fetched', async () => {
    issuing.keys = undefined;
    const server = await startWith({ jwksUrl: issuing.url });
    const token = await signFor('one', first);
    expect(await ask(server, bearer(token))).toEqual([503, 'unavailable']);
    const response = await server.get('/api/sessions', bearer(token));
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.text()).not.toMatch(/jwk|127\.0\.0\.1/i);
    expect(issuing.asked).toBe(1);
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    ahead = 1_000;
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    // The authenticator refuses a malformed token even without the issuer.
    await issuing.close();
    const other = await startWith({ jwksUrl: issuing.url });
    expect(await ask(other, bearer(token))).toEqual([503, 'unavailable']);
    expect(await ask(other, {})).toEqual(REFUSED);
  });

  it('tokens with unknown keys fetch once a second at most while the issuer fails', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url });
    const [known, unknown] = [await signFor('one', first), await signFor('two', second)];
    expect(await ask(server, bearer(known))).toEqual(SIGNED_IN);
    issuing.keys = undefined;
    ahead = 30_000;
    for (let n = 0; n < 5; n += 1) {
      expect(await ask(server, bearer(unknown))).toEqual([503, 'unavailable']);
    }
    expect(issuing.asked).toBe(2);
    expect(await ask(server, bearer(known))).toEqual(SIGNED_IN);
    ahead += 1_000;
    expect(await ask(server, bearer(unknown))).toEqual([503, 'unavailable']);
    expect(issuing.asked).toBe(3);
  });

  it('the known keys count for an hour while the set cannot be fetched', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url });
    const token = await signFor('one', first);
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    issuing.keys = undefined;
    ahead = 59 * 60 * 1000;
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    expect(issuing.asked).toBe(2);
    ahead = 60 * 60 * 1000;
    expect(await ask(server, bearer(token))).toEqual([503, 'unavailable']);
  });

  it('a key that was withdrawn counts for ten minutes', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await startWith({ jwksUrl: issuing.url });
    const token = await signFor('one', first);
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    issuing.keys = [{ kid: 'two', key: second.publicKey }];
    ahead = 10 * 60 * 1000 - 5_000;
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    expect(issuing.asked).toBe(1);
    ahead = 10 * 60 * 1000;
    expect(await ask(server, bearer(token))).toEqual(REFUSED);
    expect(issuing.asked).toBe(2);
  });

  it('a key set above the size limit is not accepted', async () => {
    issuing.keys = [{ kid: 'a', key: first.publicKey }];
    issuing.padding = 2 * 1024 * 1024;
    const token = await sign({}, first.privateKey, { alg: 'ES256', kid: 'a' });
    const server = await startWith({ jwksUrl: issuing.url });
    expect(await ask(server, bearer(token))).toEqual([503, 'unavailable']);
  });
});

describe('unsafe keys', () => {
  it.each(['http://id.test/keys', 'http://127.0.0.1.id.test/keys', 'ftp://id.test/keys'])(
    'a key set is not fetched from %s',
    (jwksUrl) => expect(() => createJwtAuthenticator({ jwksUrl })).toThrow('https'),
  );

  it('a private key is not accepted as publicKey', async () => {
    const publicKey = await exportPKCS8(first.privateKey);
    expect(() => createJwtAuthenticator({ publicKey })).toThrow('private key');
  });

  it('a token without an expiry is refused', async () => {
    const target = await startWith({ secret: SECRET });
    const claims = { sub: 'ann', aud: 'chat', iss: 'https://id.test' };
    const endless = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(hmac);
    expect(await ask(target, bearer(endless))).toEqual(REFUSED);
  });
});

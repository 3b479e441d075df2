import { createJwtAuthenticator, type JwtOptions } from '../../../extensions/jwt/index.js';
import { type ApiServer } from '../../api/api-server.js';
import {
  ask,
  bearer,
  newKeyPair,
  REFUSED,
  sign,
  SIGNED_IN,
  startWith,
  type KeyPair,
} from './signed-tokens.js';
import { startIssuer, type Issuer } from './token-issuer.js';

let first: KeyPair;
let second: KeyPair;
beforeAll(async () => {
  [first, second] = await Promise.all([newKeyPair(), newKeyPair()]);
});

let api: ApiServer | undefined;
let issuing: Issuer;
beforeEach(async () => {
  issuing = await startIssuer();
});
afterEach(async () => {
  await api?.close();
  await issuing.close();
  api = undefined;
});

async function start(options: JwtOptions): Promise<ApiServer> {
  api = await startWith(options);
  return api;
}

describe('tokens of an issuer with a key set', () => {
  const signFor = (kid: string, key: KeyPair): Promise<string> =>
    sign({}, key.privateKey, { alg: 'ES256', kid });

  it('a token is verified with the key that it names, which is fetched once', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await start({ jwksUrl: issuing.url });
    for (let n = 0; n < 3; n += 1) {
      expect(await ask(server, bearer(await signFor('one', first)))).toEqual(SIGNED_IN);
    }
    expect(await ask(server, bearer(await signFor('one', second)))).toEqual(REFUSED);
    expect(issuing.asked).toBe(1);
  });

  it('a token may be signed with a new key as soon as it is published', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await start({ jwksUrl: issuing.url, jwksCooldownMs: 0 });
    expect(await ask(server, bearer(await signFor('one', first)))).toEqual(SIGNED_IN);
    expect(await ask(server, bearer(await signFor('two', second)))).toEqual(REFUSED);
    issuing.keys = [{ kid: 'two', key: second.publicKey }];
    expect(await ask(server, bearer(await signFor('two', second)))).toEqual(SIGNED_IN);
    expect(await ask(server, bearer(await signFor('one', first)))).toEqual(REFUSED);
  });

  it('tokens with unknown keys do not fetch the set repeatedly', async () => {
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    const server = await start({ jwksUrl: issuing.url });
    for (const kid of ['a', 'b', 'c', 'd']) {
      expect(await ask(server, bearer(await signFor(kid, second)))).toEqual(REFUSED);
    }
    expect(issuing.asked).toBe(1);
  });

  it('a token gets 503 while the key set cannot be fetched', async () => {
    issuing.keys = undefined;
    const server = await start({ jwksUrl: issuing.url });
    const token = await signFor('one', first);
    expect(await ask(server, bearer(token))).toEqual([503, 'unavailable']);
    const response = await server.get('/api/sessions', bearer(token));
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.text()).not.toMatch(/jwk|127\.0\.0\.1/i);
    issuing.keys = [{ kid: 'one', key: first.publicKey }];
    expect(await ask(server, bearer(token))).toEqual(SIGNED_IN);
    // The authenticator refuses a malformed token even without the issuer.
    await issuing.close();
    const other = await start({ jwksUrl: issuing.url });
    expect(await ask(other, bearer(token))).toEqual([503, 'unavailable']);
    expect(await ask(other, {})).toEqual(REFUSED);
    await server.close();
  });
});
describe('unsafe keys', () => {
  it.each(['http://id.test/keys', 'http://127.0.0.1.id.test/keys', 'ftp://id.test/keys'])(
    'a key set is not fetched from %s',
    (jwksUrl) => {
      expect(() => createJwtAuthenticator({ jwksUrl })).toThrow('https');
    },
  );

  it('a key set above the size limit is not accepted', async () => {
    issuing.keys = [{ kid: 'a', key: first.publicKey }];
    issuing.padding = 2 * 1024 * 1024;
    const token = await sign({}, first.privateKey, { alg: 'ES256', kid: 'a' });
    const server = await start({ jwksUrl: issuing.url });
    expect(await ask(server, bearer(token))).toEqual([503, 'unavailable']);
  });
});

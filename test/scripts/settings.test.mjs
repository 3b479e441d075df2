import { readSettings, urlFor } from '../../scripts/start/settings.mjs';

const read = (env) => readSettings(env, '/project');

test('an empty environment means loopback, port 3000 and a data folder in the project', () => {
  expect(read({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    portWasGiven: false,
    dataDir: '/project/.data',
    allowUnauthenticated: '1',
  });
});

test('a port that was given is known to have been given', () => {
  expect(read({ PORT: '3000' })).toMatchObject({ port: 3000, portWasGiven: true });
});

test.each(['0', '65536', '-1', '3e3', 'http', ' 80'])('PORT=%s is refused', (PORT) => {
  expect(() => read({ PORT })).toThrow(/^PORT is ".*", but a port is a number/);
});

describe('without authentication', () => {
  test.each(['127.0.0.1', '127.0.1.1', 'localhost', '::1'])('%s is served', (HOST) => {
    expect(read({ HOST }).allowUnauthenticated).toBe('1');
  });

  test.each(['0.0.0.0', '::', '192.168.1.5', '127.0.0.1.example.org'])('%s is not', (HOST) => {
    expect(() => read({ HOST })).toThrow('HELIX_ALLOW_UNAUTHENTICATED=1');
  });

  test.each(['JWT_SECRET', 'JWT_PUBLIC_KEY', 'JWT_JWKS_URL'])('%s needs none of it', (name) => {
    expect(read({ HOST: '0.0.0.0', [name]: 'key' }).allowUnauthenticated).toBeUndefined();
    expect(read({ [name]: 'key' }).allowUnauthenticated).toBeUndefined();
  });

  test('any host is allowed once the setting is explicit', () => {
    const env = { HOST: '0.0.0.0', HELIX_ALLOW_UNAUTHENTICATED: '1' };
    expect(read(env).allowUnauthenticated).toBe('1');
  });
});

test('a server that listens everywhere is called on loopback', () => {
  expect(urlFor('0.0.0.0', 1)).toBe('http://127.0.0.1:1');
  expect(urlFor('::', 1)).toBe('http://[::1]:1');
  expect(urlFor('localhost', 1)).toBe('http://localhost:1');
});

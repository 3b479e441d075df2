import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../config/env.js';
import { readTemporal } from '../../config/temporal.js';

const LOCAL = { address: '127.0.0.1:7233' };

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'helix-temporal-config-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the environment of a user whose Temporal command line has this file. */
function withFile(toml: string): Record<string, string> {
  const file = join(folder, 'temporal.toml');
  writeFileSync(file, toml);
  return { TEMPORAL_CONFIG_FILE: file };
}

const PROFILES = `
[profile.default]
address = "default.example:7233"
[profile.cloud]
address = "cloud.example:7233"
namespace = "shop.acct"
api_key = "secret"
[profile.cloud.grpc_meta]
team = "shop"
`;

it('readTemporal names the local server without TLS if nothing is set and there is no file', () => {
  const settings = readTemporal({ HOME: folder, XDG_CONFIG_HOME: folder });
  expect(settings).toEqual({ ...LOCAL, namespace: 'default', connection: LOCAL });
});

it('readTemporal reads a profile of the file, with key, TLS and headers', () => {
  expect(readTemporal({ ...withFile(PROFILES), TEMPORAL_PROFILE: 'cloud' })).toEqual({
    address: 'cloud.example:7233',
    namespace: 'shop.acct',
    connection: {
      address: 'cloud.example:7233',
      apiKey: 'secret',
      tls: true,
      metadata: { team: 'shop' },
    },
  });
});

it('readTemporal lets variables win over the file', () => {
  const env = { ...withFile(PROFILES), TEMPORAL_PROFILE: 'cloud', TEMPORAL_NAMESPACE: 'other' };
  expect(readTemporal({ ...env, TEMPORAL_ADDRESS: 'proxy.example:443' })).toMatchObject({
    address: 'proxy.example:443',
    namespace: 'other',
    connection: { apiKey: 'secret' },
  });
});

it('readTemporal sends no key of the default profile to an address of the environment', () => {
  mkdirSync(join(folder, 'temporalio'));
  writeFileSync(
    join(folder, 'temporalio', 'temporal.toml'),
    '[profile.default]\naddress = "cloud.example:7233"\napi_key = "secret"',
  );
  const home = { HOME: folder, XDG_CONFIG_HOME: folder, APPDATA: folder };
  expect(readTemporal({ ...home, TEMPORAL_ADDRESS: 'other.example:7233' }).connection).toEqual({
    address: 'other.example:7233',
  });
  if (process.platform === 'linux') {
    expect(readTemporal(home).connection).toMatchObject({ apiKey: 'secret' });
    const named = {
      ...home,
      TEMPORAL_ADDRESS: 'other.example:7233',
      TEMPORAL_PROFILE: 'default',
    };
    expect(readTemporal(named).connection).toMatchObject({ apiKey: 'secret' });
  }
});

it('readTemporal reads certificates from text, and an API key turns TLS on', () => {
  const env = { TEMPORAL_TLS_CLIENT_CERT_DATA: 'cert', TEMPORAL_TLS_CLIENT_KEY_DATA: 'key' };
  expect(readTemporal({ ...env, TEMPORAL_ADDRESS: 'a:1' }).connection.tls).toMatchObject({
    clientCertPair: { crt: Buffer.from('cert'), key: Buffer.from('key') },
  });
  expect(readTemporal({ TEMPORAL_API_KEY: 'k', TEMPORAL_ADDRESS: 'a:1' }).connection).toEqual({
    address: 'a:1',
    apiKey: 'k',
    tls: true,
  });
});

it.each([
  ['an unknown profile', { TEMPORAL_PROFILE: 'nowhere' }, 'nowhere'],
  ['a file that does not exist', { TEMPORAL_CONFIG_FILE: '/no/file.toml' }, 'file.toml'],
  ['a certificate without its key', { TEMPORAL_TLS_CLIENT_CERT_DATA: 'c' }, 'needs its key'],
  ['a key without its certificate', { TEMPORAL_TLS_CLIENT_KEY_DATA: 'k' }, 'its certificate'],
  [
    'a certificate that cannot be read',
    { TEMPORAL_TLS_CLIENT_CERT_PATH: '/no/c.pem', TEMPORAL_TLS_CLIENT_KEY_DATA: 'k' },
    'Temporal: TEMPORAL_TLS_CLIENT_CERT_PATH: ',
  ],
])('readTemporal refuses %s in one line', (_, env, word) => {
  const fail = (): unknown => readTemporal({ ...withFile(PROFILES), ...env });
  expect(fail).toThrow(ConfigError);
  expect(fail).toThrow(word);
  expect(fail).toThrow(/^[^\n]*$/);
});

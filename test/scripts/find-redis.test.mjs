import { findRedis } from '../../scripts/engines/redis.mjs';
import { useTempFolders, writeProgram } from './temp-folder.mjs';

const redis = (version) => `Redis server v=${version} sha=00000000:0 malloc=libc bits=64`;
const tempFolder = useTempFolders();
const noInstall = { canInstall: () => false };

test('redis-server on PATH is used', async () => {
  const bin = tempFolder();
  const path = writeProgram(bin, 'redis-server', redis('7.2.4'));
  await expect(findRedis({ env: { PATH: bin }, ...noInstall })).resolves.toBe(path);
});

test('one that is too old is passed over for valkey-server', async () => {
  const bin = tempFolder();
  writeProgram(bin, 'redis-server', redis('6.0.16'));
  const valkey = writeProgram(bin, 'valkey-server', 'Valkey server v=8.0.1 sha=00000000:0');
  await expect(findRedis({ env: { PATH: bin }, ...noInstall })).resolves.toBe(valkey);
});

test('REDIS_SERVER_PATH is used or refused, never replaced', async () => {
  const bin = tempFolder();
  writeProgram(bin, 'redis-server', redis('7.2.4'));
  const old = writeProgram(tempFolder(), 'redis', redis('6.0.20'));
  const found = findRedis({ env: { PATH: bin, REDIS_SERVER_PATH: old }, ...noInstall });
  await expect(found).rejects.toThrow('not a Redis server 6.2 or newer');
});

test('a missing Redis is installed where that is possible', async () => {
  const bin = tempFolder();
  const install = async () => void writeProgram(bin, 'redis-server', redis('7.0.15'));
  const found = findRedis({ env: { PATH: bin }, canInstall: () => true, install });
  await expect(found).resolves.toBe(`${bin}/redis-server`);
});

test('a package that is too old is named in the error', async () => {
  const bin = tempFolder();
  const install = async () => void writeProgram(bin, 'redis-server', redis('6.0.16'));
  const found = findRedis({ env: { PATH: bin }, canInstall: () => true, install });
  await expect(found).rejects.toThrow('too old');
});

test('one sentence explains how to get Redis where it cannot be installed', async () => {
  const found = findRedis({ env: { PATH: tempFolder() }, ...noInstall });
  await expect(found).rejects.toThrow(/No Redis server was found\. Install Redis 6.2 or newer/);
});

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChildProcess } from '../../scripts/start/child-process.mjs';
import { stopLeftOver, writePidFile } from '../../scripts/start/engine.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();
const startEngine = () => startChildProcess(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);

test('an engine that outlived its supervisor is stopped', async () => {
  const file = join(tempFolder(), 'redis.pid.json');
  const engine = startEngine();
  writePidFile(file, engine.pid);
  await expect(stopLeftOver(file)).resolves.toBe(true);
  await expect(engine.exited).resolves.toMatchObject({ reason: 'SIGTERM' });
  expect(existsSync(file)).toBe(false);
});

test('another process that has reused its process id is left alone', async () => {
  const file = join(tempFolder(), 'redis.pid.json');
  const stranger = startEngine();
  writeFileSync(file, JSON.stringify({ pid: stranger.pid, startTime: 'another' }));
  await expect(stopLeftOver(file)).resolves.toBe(false);
  // An earlier signal would have been delivered before this one.
  expect(process.kill(stranger.pid, 'SIGKILL')).toBe(true);
  await expect(stranger.exited).resolves.toMatchObject({ reason: 'SIGKILL' });
});

test('nothing is stopped without a pid file', async () => {
  await expect(stopLeftOver(join(tempFolder(), 'redis.pid.json'))).resolves.toBe(false);
});

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '../../scripts/start/reachable.mjs';
import { startTimeOf } from '../../scripts/system/process-identity.mjs';
import { listen } from '../support/listen.js';
import {
  createStandInProject,
  enginePid,
  KEYS,
  modeOf,
  openTo,
  startCommand,
} from './stand-in-project.mjs';
import { useTempFolders } from './temp-folder.mjs';

const READY = /Ctrl-C stops/;
const servers = {
  REDIS_URL: process.env.TEST_REDIS_URL,
  TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS,
};
const commands = [];

afterEach(async () => {
  for (const { child, exited } of commands.splice(0)) {
    child.kill('SIGTERM');
    await exited;
  }
});
// Hooks run in this order, so the folders go after the processes that use them.
const tempFolder = useTempFolders();

function start(...options) {
  const command = startCommand(...options);
  commands.push(command);
  return command;
}

async function startWhole(env, options) {
  const root = createStandInProject(tempFolder());
  const command = start(root, { ...env, LANG: 'C.UTF-8' }, [], options);
  const pids = {};
  const noted = ['worker', 'api'].map(async (role) => {
    const [, pid] = await command.line(new RegExp(`^${role} .*up (\\d+)`));
    pids[role] = Number(pid);
  });
  await command.line(READY);
  await Promise.all(noted);
  pids.temporal = enginePid(root, 'temporal');
  pids.redis = enginePid(root, 'redis');
  return { root, command, pids };
}

const isRunning = (pid) => startTimeOf(pid) !== undefined;
const allGone = (pids) =>
  waitUntil(() => !Object.values(pids).some(isRunning), { withinMs: 60_000 });

/** Checks the environments of processes in Linux' tables. */
function expectKeysWhereNeeded(pids) {
  if (process.platform !== 'linux') return;
  const environments = Object.entries(pids).map(([name, pid]) => {
    const text = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return [name, Object.keys(KEYS).filter((key) => text.includes(`${key}=`))];
  });
  expect(Object.fromEntries(environments)).toEqual({
    worker: ['OPENAI_API_KEY', 'SOME_TOKEN'],
    api: ['JWT_SECRET', 'SOME_TOKEN'],
    temporal: [],
    redis: [],
  });
}

function expectPrivate(data) {
  if (process.platform !== 'linux') return;
  expect(modeOf(data)).toBe(0o700);
  const ofEngines = openTo(0o077, data).filter((path) => !/\.(json|lock)$/.test(path));
  expect(ofEngines).toEqual([]);
}

describe('npm start', () => {
  test('npm start starts everything once, privately, each with its keys; it restarts what dies, and a stop leaves nothing', async () => {
    const { root, command, pids } = await startWhole(KEYS);
    expect(Object.values(pids).every(isRunning)).toBe(true);
    expect(command.output()).toMatch(/Chat page +http:\/\/127\.0\.0\.1:\d+/);
    expect(command.output()).toMatch(/Temporal UI +http:\/\/127\.0\.0\.1:\d+/);
    expectKeysWhereNeeded(pids);
    expectPrivate(join(root, '.data'));

    const second = start(root);
    await expect(second.exited).resolves.toBe(1);
    const sentence = `already runs on ${root}/.data (process ${command.child.pid})`;
    expect(second.output()).toContain(sentence);
    expect(Object.values(pids).every(isRunning)).toBe(true);

    for (const role of ['worker', 'api']) {
      const back = command.line(new RegExp(`^${role} .*up (\\d+)`));
      process.kill(pids[role], 'SIGKILL');
      const [, pid] = await back;
      expect(Number(pid)).not.toBe(pids[role]);
      pids[role] = Number(pid);
    }
    for (const name of ['temporal', 'redis']) {
      process.kill(pids[name], 'SIGKILL');
      const back = () => ![undefined, pids[name]].includes(enginePid(root, name));
      await expect(waitUntil(back, { withinMs: 60_000 })).resolves.toBe(true);
      pids[name] = enginePid(root, name);
    }

    command.child.kill('SIGINT');
    await expect(command.exited).resolves.toBe(0);
    expect(Object.values(pids).some(isRunning)).toBe(false);
    const left = readdirSync(join(root, '.data')).sort();
    expect(left.filter((name) => /lock|pid/.test(name))).toEqual([]);
    expect(left).toEqual(expect.arrayContaining(['redis', 'temporal.db']));
  });

  test('when the npm that started it is killed, it leaves nothing running', async () => {
    const { command, pids } = await startWhole(servers, { throughNpm: true });
    command.child.kill('SIGKILL');
    await expect(allGone(pids)).resolves.toBe(true);
  });
});

describe('a PORT that was given', () => {
  test('a PORT that is taken is refused', async () => {
    const PORT = String((await listen(createServer())).port);
    const command = start(createStandInProject(tempFolder()), { PORT });
    await expect(command.exited).resolves.toBe(1);
    expect(command.output()).toContain(`PORT ${PORT} is in use by another program`);
  });
});

test('a server that was given but does not answer is named in one sentence', async () => {
  const redis = { REDIS_URL: 'redis://127.0.0.1:1' };
  const temporal = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const others = { TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS };
  const cases = [
    [redis, [], 'Redis at 127.0.0.1:1 (REDIS_URL)'],
    [temporal, [], 'Temporal at 127.0.0.1:1 (TEMPORAL_ADDRESS)'],
    [{ ...redis, ...others }, ['worker'], 'Redis at 127.0.0.1:1 (REDIS_URL)'],
  ];
  // The cases run concurrently, since each waits some seconds in case the server is only starting.
  const checks = cases.map(async ([env, args, sentence]) => {
    const command = start(createStandInProject(tempFolder()), env, args);
    await expect(command.exited).resolves.toBe(1);
    expect(command.output()).toContain(`${sentence} cannot be reached.`);
    expect(command.output()).not.toMatch(/^\s+at /m);
  });
  await Promise.all(checks);
});

test('a setting that the processes would refuse is refused before anything starts', async () => {
  const root = createStandInProject(tempFolder());
  const command = start(root, { LOG_LEVEL: 'loud' });
  await expect(command.exited).resolves.toBe(1);
  expect(command.output()).toContain('LOG_LEVEL');
  expect(enginePid(root, 'redis')).toBeUndefined();
});

test('one process alone runs on servers that are given, and ends with its own exit code', async () => {
  const root = createStandInProject(tempFolder());
  const worker = start(root, servers, ['worker']);
  const [, pid] = await worker.line(/up (\d+)/);
  worker.child.kill('SIGTERM');
  await expect(worker.exited).resolves.toBe(0);
  expect(isRunning(Number(pid))).toBe(false);
});

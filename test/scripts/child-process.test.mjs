import { once } from 'node:events';
import { waitUntil } from '../../scripts/start/reachable.mjs';
import { identityOf, isSameProcess, startTimeOf } from '../../scripts/system/process-identity.mjs';
import { startChildProcess } from '../../scripts/start/child-process.mjs';
import { useTempFolders } from './temp-folder.mjs';

const tempFolder = useTempFolders();

/** Resolves when the child has installed its signal handlers. */
async function startNode(code) {
  const started = startChildProcess(process.execPath, ['-e', `${code};console.log('ready')`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(started.child.stdout, 'data');
  return started;
}

test('a child that listens for signals ends on SIGTERM', async () => {
  const child = await startNode(
    "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1e6)",
  );
  await child.stop();
  await expect(child.exited).resolves.toEqual({ reason: 'exit code 7', code: 7 });
});

test('a child that does not listen is killed when its time is over', async () => {
  const child = await startNode("process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6)");
  await child.stop({ graceMs: 20 });
  await expect(child.exited).resolves.toEqual({ reason: 'SIGKILL', code: null });
});

test('a program that does not exist has exited', async () => {
  const child = startChildProcess('/nowhere/program', []);
  await expect(child.exited).resolves.toEqual({ reason: expect.stringContaining('ENOENT') });
  await child.stop();
});

test.each(['', "process.on('SIGTERM', () => {});"])(
  'what a child started ends with it, though the child does not take it along (%s)',
  async (deaf) => {
    const grandchild = `${deaf} setInterval(() => {}, 1e6); process.stdout.write(String(process.pid))`;
    const started = startChildProcess(
      process.execPath,
      [
        '-e',
        `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { stdio: 'inherit' })`,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [pid] = await once(started.child.stdout, 'data');
    const identity = identityOf(Number(pid));
    await started.stop();
    expect(await waitUntil(() => !isSameProcess(identity), { withinMs: 60_000 })).toBe(true);
  },
);

test('a server ends with the process that started it, also if that is killed', async () => {
  const folder = tempFolder();
  const module = new URL('../../scripts/start/child-process.mjs', import.meta.url).href;
  const program = `
    import { startServer } from '${module}';
    const { pid } = startServer('sleep', ['600'], 'server.log', {});
    process.stdout.write(String(pid));
    setInterval(() => {}, 1e6);
  `;
  const starter = startChildProcess(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = await once(starter.child.stdout, 'data');
  expect(startTimeOf(Number(pid))).toBeDefined();
  starter.child.kill('SIGKILL');
  const isGone = () => startTimeOf(Number(pid)) === undefined;
  await expect(waitUntil(isGone, { withinMs: 60_000 })).resolves.toBe(true);
});

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTestStores, sharedRedisUrl } from '../support/test-stores.js';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('../support/local-process.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'helix-local-'));
const EFFECTS = join(folder, 'effects');
const NAME = `local-${randomBytes(4).toString('hex')}`;
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function start(env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, EFFECTS, NAME, REDIS_URL: sharedRedisUrl(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

const effects = (): string[] =>
  existsSync(EFFECTS) ? readFileSync(EFFECTS, 'utf8').trim().split('\n').sort() : [];

it('runs of a process that was killed are carried on by the next one, which recovers them', async () => {
  const { store } = await openTestStores();
  const first = start({ FIRST: '1' });
  await until(
    'both tools run, the model speaks, and a person is asked',
    async () => {
      const record = await store.sessions.read(`${NAME}-2`);
      return effects().length === 3 && record?.status === 'waiting_approval';
    },
    30_000,
  );
  const gone = new Promise((resolve) => first.once('close', resolve));
  first.kill('SIGKILL');
  await gone;
  const second = start({});
  let text = '';
  second.stdout?.on('data', (piece: Buffer) => (text += piece.toString()));
  const code = await new Promise((resolve) => second.once('close', resolve));
  const end = ['completed', 'Once and whole.'];
  expect([code, JSON.parse(text)]).toEqual([0, { recovered: 3, ends: [end, end, end] }]);
  // No worker executes a non-idempotent tool a second time.
  expect(effects()).toEqual(['many', 'many', 'once', 'pay', 'spoke']);
  const rows = await store.sessions.rows(`${NAME}-0`, 0);
  expect(rows.filter(({ role }) => role === 'tool')).toMatchObject([
    { toolCallId: 'once', errorCode: 'tool_outcome_unknown' },
    { toolCallId: 'many', output: 'done' },
  ]);
  expect(JSON.stringify(await store.sessions.rows(`${NAME}-1`, 0)).match(/Once/g)).toHaveLength(1);
}, 60_000);

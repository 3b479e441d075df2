import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram, type Program } from '../support/program.js';
import { openTestStores, sharedRedisUrl } from '../support/test-stores.js';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('../support/local-process.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'helix-local-'));
const EFFECTS = join(folder, 'effects');
const NAME = `local-${randomBytes(4).toString('hex')}`;
const programs: Program[] = [];
afterAll(() => {
  for (const program of programs) program.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function start(env: Record<string, string>): Program {
  const program = startProgram(process.execPath, [PROGRAM], {
    env: { ...process.env, EFFECTS, NAME, REDIS_URL: sharedRedisUrl(), ...env },
  });
  programs.push(program);
  return program;
}

const effects = (): string[] =>
  existsSync(EFFECTS) ? readFileSync(EFFECTS, 'utf8').trim().split('\n').sort() : [];

it('runs of a process that was killed are carried on by the next one, which recovers them', async () => {
  const { store } = await openTestStores();
  const first = start({ FIRST: '1' });
  await until('both tools run, the model speaks, and a person is asked', async () => {
    const record = await store.sessions.read(`${NAME}-2`);
    return effects().length === 3 && record?.status === 'waiting_approval';
  });
  first.kill('SIGKILL');
  await first.ended;
  const { code, stdout } = await start({}).ended;
  const end = ['completed', 'Once and whole.'];
  expect([code, JSON.parse(stdout)]).toEqual([0, { recovered: 3, ends: [end, end, end] }]);
  // No worker executes a non-idempotent tool a second time.
  expect(effects()).toEqual(['many', 'many', 'once', 'pay', 'spoke']);
  const rows = await store.sessions.rows(`${NAME}-0`, 0);
  expect(rows.filter(({ role }) => role === 'tool')).toMatchObject([
    { toolCallId: 'once', errorCode: 'tool_outcome_unknown' },
    { toolCallId: 'many', output: 'done' },
  ]);
  expect(JSON.stringify(await store.sessions.rows(`${NAME}-1`, 0)).match(/Once/g)).toHaveLength(1);
});

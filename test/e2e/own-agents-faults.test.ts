import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, startCommand } from '../support/command-line.js';
import { createOwnProject } from '../support/own-project.js';
import { until } from '../support/until.js';

const ONE = `import { defineAgent } from 'helix-temporal';
export default defineAgent({ name: 'one', systemPrompt: '', llmConfig: { model: 'openai/gpt-5' } });`;

// The functions that the commands call have tests of their own: scripts/agents-file has further
// faults of a file, scripts/start and scripts/reachable those of ports and servers.
it.concurrent.each<
  [
    what: string,
    args: string[],
    files: Record<string, string>,
    env: Record<string, string>,
    end: [number, string],
  ]
>([
  ['no file of agents', ['dev'], {}, {}, [64, 'begin with helix-temporal init']],
  [
    'a file of agents with a syntax error',
    ['worker', './agents.ts'],
    { 'agents.ts': 'const a = 1;\nconst b: = 2;' },
    {},
    [64, 'agents.ts cannot be loaded: Unexpected token (agents.ts:2:9).'],
  ],
  [
    'an .env that cannot be read',
    ['dev'],
    { 'agents.ts': ONE, '.env/of-mine': '' },
    {},
    [64, '<folder>/.env cannot be read: it is a folder (EISDIR).'],
  ],
  [
    'a port that is out of range',
    ['dev', '--port', '99999'],
    { 'agents.ts': ONE },
    {},
    [64, 'a number from 1 to 65535'],
  ],
  [
    'a folder for conversations that cannot be made',
    ['dev', '--data', './agents.ts/data'],
    { 'agents.ts': ONE },
    {},
    [69, '<folder>/agents.ts/data cannot be used: a part of the path is a file (ENOTDIR)'],
  ],
  [
    'a folder for programs that cannot be made',
    ['dev'],
    { 'agents.ts': ONE },
    { PATH: '/nonexistent', XDG_CACHE_HOME: '/dev/null' },
    [69, 'Conversations are kept in DATA_DIR, programs in XDG_CACHE'],
  ],
])('%s ends the command with one sentence', async (_what, args, files, env, [code, sentence]) => {
  const project = createOwnProject(files);
  const ended = await runCommand(args, { folder: project.folder, env });
  project.close();
  const printed = ended.stderr.replaceAll(project.folder, '<folder>').trim();
  expect([ended.code, printed]).toEqual([code, expect.stringContaining(sentence)]);
  expect(printed.split('\n')).toHaveLength(1);
  expect(ended.stdout.replace(/\nStopping.*\n/, '')).toBe('');
});

const ENDLESS = `import { renameSync, writeFileSync } from 'node:fs';
writeFileSync('pid.new', String(process.pid));
renameSync('pid.new', 'pid');
setInterval(() => undefined, 1_000);
await new Promise(() => undefined);
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.concurrent.each<[NodeJS.Signals, number | null]>([
  ['SIGINT', 0],
  ['SIGKILL', null],
])('a file that never finishes loading leaves no process behind after %s', async (signal, code) => {
  const project = createOwnProject({ 'agents.ts': ENDLESS });
  const { folder } = project;
  const command = startCommand(['dev'], { folder });
  await until('it is loaded', () => existsSync(join(folder, 'pid')));
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  command.kill(signal);
  expect((await command.ended).code).toBe(code);
  await until('its process is gone', () => !isAlive(pid));
  project.close();
});

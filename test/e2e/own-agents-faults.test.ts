import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { runCommand, startCommand } from '../support/command-line.js';
import { createOwnProject, type OwnProject } from '../support/own-project.js';
import { until } from '../support/until.js';

const AGENT = (name: string): string =>
  `defineAgent({ name: '${name}', systemPrompt: '', tools: [], llmConfig: { model: 'openai/gpt-5' } })`;
const IMPORT = `import { defineAgent } from 'helix-temporal';\n`;

let project: OwnProject | undefined;
afterEach(() => project?.close());

async function run(
  args: string[],
  files: Record<string, string> = {},
  env: Record<string, string> = {},
): Promise<[number | null, string]> {
  project = createOwnProject(files);
  const { code, stdout, stderr } = await runCommand(args, { folder: project.folder, env });
  expect(stdout.replace(/\nStopping.*\n/, '')).toBe('');
  return [code, stderr.replaceAll(project.folder, '<folder>')];
}

describe('a file of agents that cannot be used ends each command with one sentence', () => {
  // All commands load the file by the same code; scripts/agents-file covers further faults.
  it.each<[string, string, string | undefined, string]>([
    ['dev', 'is not there', undefined, 'There is no file agents.ts in <folder>.'],
    [
      'worker',
      'has a syntax error',
      'const a = 1;\nconst b: = 2;',
      'agents.ts cannot be loaded: Unexpected token (agents.ts:2:9).',
    ],
    [
      'api',
      'names an agent twice',
      `${IMPORT}export const a = ${AGENT('twin')};\nexport const b = ${AGENT('twin')};`,
      'agents.ts cannot be used: Agent "twin": another agent is registered under this name',
    ],
  ])(
    '%s: a file that %s',
    async (command, _, text, sentence) => {
      const files: Record<string, string> = text === undefined ? {} : { 'agents.ts': text };
      const [code, printed] = await run([command, './agents.ts'], files);
      expect([code, printed]).toEqual([64, expect.stringContaining(sentence)]);
      expect(printed.trim().split('\n')).toHaveLength(1);
    },
    60_000,
  );

  it('no file at all', async () => {
    expect(await run(['dev'])).toEqual([
      64,
      expect.stringContaining('begin with helix-temporal init'),
    ]);
  });
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

it.each<[NodeJS.Signals, number | null]>([
  ['SIGINT', 0],
  ['SIGKILL', null],
])(
  'a file that never finishes loading leaves no process behind after %s',
  async (signal, code) => {
    project = createOwnProject({ 'agents.ts': ENDLESS });
    const { folder } = project;
    const command = startCommand(['dev'], { folder });
    await until('it is loaded', () => existsSync(join(folder, 'pid')));
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    command.kill(signal);
    expect((await command.ended).code).toBe(code);
    await until('its process is gone', () => !isAlive(pid));
  },
  60_000,
);

describe('other faults', () => {
  const files = { 'agents.ts': `${IMPORT}export default [${AGENT('one')}];` };

  it('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const [code, printed] = await run(['dev', '--port', String(port)], files);
    expect([code, printed]).toEqual([
      64,
      expect.stringContaining(`PORT ${String(port)} is in use`),
    ]);
    server.close();
  });

  it('an .env that cannot be read', async () => {
    const [code, printed] = await run(['dev'], { ...files, '.env/of-mine': '' });
    expect([code, printed]).toEqual([
      64,
      '<folder>/.env cannot be read: it is a folder (EISDIR).\n',
    ]);
  });

  it('a port that is out of range', async () => {
    const [code, printed] = await run(['dev', '--port', '99999'], files);
    expect([code, printed]).toEqual([64, expect.stringContaining('a number from 1 to 65535')]);
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'for conversations',
      ['--data', './agents.ts/data'],
      {},
      /^<folder>\/agents\.ts\/data cannot be used: a part of the path is a file \(ENOTDIR\)/,
    ],
    [
      'for programs',
      [],
      { PATH: '/nonexistent', XDG_CACHE_HOME: '/dev/null' },
      /\/dev\/null\/.* cannot be used: a part of the path is a file .*XDG_CACHE_HOME/,
    ],
  ])('a folder %s that cannot be made', async (_, options, env, sentence) => {
    const [code, printed] = await run(['dev', ...options], files, env);
    expect([code, printed.trim()]).toEqual([69, expect.stringMatching(sentence)]);
    expect(printed.trim().split('\n')).toHaveLength(1);
  });

  it('engines that are absent', async () => {
    const env = { PATH: '/nonexistent', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const [code, printed] = await run(['dev'], files, env);
    expect([code, printed]).toEqual([
      69,
      expect.stringContaining('No Redis server was found. Install Redis 7'),
    ]);
  }, 60_000);

  it('engines that were named and are away', async () => {
    const env = { REDIS_URL: 'redis://127.0.0.1:1', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const [code, printed] = await run(['worker'], files, env);
    expect([code, printed]).toEqual([
      69,
      expect.stringMatching(/127\.0\.0\.1:1 .* cannot be reached/),
    ]);
  }, 60_000);
});

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
    const port = String((server.address() as { port: number }).port);
    const sentence = expect.stringContaining(`PORT ${port} is in use`);
    expect(await run(['dev', '--port', port], files)).toEqual([64, sentence]);
    server.close();
  });

  const NOWHERE = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const CANNOT_BE_MADE = 'cannot be used: a part of the path is a file';
  it.each<[what: string, args: string[], env: Record<string, string>, end: [number, string]]>([
    [
      'a port that is out of range',
      ['dev', '--port', '99999'],
      {},
      [64, 'a number from 1 to 65535'],
    ],
    [
      'a folder for conversations that cannot be made',
      ['dev', '--data', './agents.ts/data'],
      {},
      [69, `<folder>/agents.ts/data ${CANNOT_BE_MADE} (ENOTDIR)`],
    ],
    [
      'a folder for programs that cannot be made',
      ['dev'],
      { PATH: '/nonexistent', XDG_CACHE_HOME: '/dev/null' },
      [
        69,
        `${CANNOT_BE_MADE} (ENOTDIR). Conversations are kept in DATA_DIR, programs in XDG_CACHE`,
      ],
    ],
    [
      'engines that are absent',
      ['dev'],
      { PATH: '/nonexistent', ...NOWHERE },
      [69, 'No Redis server was found. Install Redis 7'],
    ],
    [
      'engines that were named and are away',
      ['worker'],
      { REDIS_URL: 'redis://127.0.0.1:1', ...NOWHERE },
      [69, ') cannot be reached'],
    ],
  ])(
    '%s',
    async (_what, args, env, [code, sentence]) => {
      const [ended, printed] = await run(args, files, env);
      expect([ended, printed]).toEqual([code, expect.stringContaining(sentence)]);
      expect(printed.trim().split('\n')).toHaveLength(1);
    },
    60_000,
  );

  it('an .env that cannot be read', async () => {
    expect(await run(['dev'], { ...files, '.env/of-mine': '' })).toEqual([
      64,
      '<folder>/.env cannot be read: it is a folder (EISDIR).\n',
    ]);
  });
});

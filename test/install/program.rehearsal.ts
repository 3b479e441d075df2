import { randomBytes } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedTemporal } from '../support/product.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { installInto, type Project } from './support/project.js';

const TEMPORAL = ['activity', 'client', 'common', 'worker', 'workflow'];
const temporal = (version: string): string[] =>
  TEMPORAL.map((name) => `@temporalio/${name}@${version}`);

/** Both ends of the ranges in package.json; without a version npm installs the newest. */
const ENDS: [name: string, packages: string[]][] = [
  ['the oldest packages that it takes', [...temporal('1.20.1'), 'zod@4.1.8']],
  ['the newest packages that it takes', []],
];
const OPTIONAL = ['react', '@ai-sdk/react@4', 'fast-check@4', '@ai-sdk/openai@4'];
const TYPES = ['typescript@6.0', '@types/node@22', '@types/react@19', '@types/express@5'];

const IMPORT_ALL = `
import { readFileSync } from 'node:fs';
const { exports } = JSON.parse(readFileSync('node_modules/helix-temporal/package.json', 'utf8'));
for (const entry of Object.keys(exports)) {
  if (entry.endsWith('.json')) continue;
  const names = Object.keys(await import('helix-temporal' + entry.slice(1)));
  if (names.length === 0) throw new Error(entry + ' exports nothing');
  console.log(entry);
}
process.exit();
`;

describe.each(ENDS)('installed beside %s', (_name, packages) => {
  let redis: RedisServer;
  let project: Project;

  beforeAll(async () => {
    redis = await startRedis();
    project = await installInto([...packages, ...OPTIONAL, ...TYPES], {
      env: {
        TEMPORAL_ADDRESS: sharedTemporal(),
        REDIS_URL: redis.url,
        TASK_QUEUE: `install-${randomBytes(6).toString('hex')}`,
      },
    });
    const examples = join(project.folder, 'node_modules/helix-temporal/examples');
    await cp(join(examples, 'embed'), project.folder, { recursive: true });
  }, 300_000);

  afterAll(async () => {
    await project.close();
    await redis.close();
  });

  it('every entry is there', async () => {
    await project.write('imports.mjs', IMPORT_ALL);
    const printed = await project.run(process.execPath, ['imports.mjs']);
    const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as { exports: object };
    const entries = Object.keys(exports).filter((entry) => !entry.endsWith('.json'));
    expect(printed.trim().split('\n')).toEqual(entries);
  });

  it('a worker of its own and a program run an agent', async () => {
    await project.start(process.execPath, ['worker.mjs'], "state: 'RUNNING'");
    const printed = await project.run(process.execPath, ['ask.mjs', 'hello']);
    expect(printed).toContain('hello');
    expect(printed).toMatch(/\ncompleted\n$/);
  });

  it.each(['nodenext', 'bundler'])(
    'its types, and the files in the README, hold in strict TypeScript with %s',
    async (kind) => {
      await project.write('types.ts', await entriesAsTypes());
      await project.write('globals.d.ts', GLOBALS);
      const snippets = await snippetsOf('README.md');
      for (const [name, code] of snippets) await project.write(name, code);
      const files = ['types.ts', 'globals.d.ts', ...snippets.keys()];
      const module = kind === 'bundler' ? 'esnext' : kind;
      const options = ['--moduleResolution', kind, '--module', module, '--target', 'es2023'];
      const checks = ['--strict', '--noEmit', '--skipLibCheck', '--jsx', 'react-jsx'];
      await project.run('npx', ['tsc', ...options, ...checks, '--types', 'node', ...files]);
    },
    120_000,
  );
});

/** What the snippets leave to their reader. */
const GLOBALS = `
declare function payBack(order: string, amount: number, key: string): Promise<string>;
declare function signedIn(request: unknown): { userId: string } | undefined;
`;

/** The code of a document that is said to be a file. */
async function snippetsOf(document: string): Promise<Map<string, string>> {
  const text = await readFile(document, 'utf8');
  const blocks = text.matchAll(/^```tsx?\n(\/\/ ([\w-]+\.tsx?)\b[^]*?)^```$/gm);
  const snippets = new Map([...blocks].map(([, code = '', name = '']) => [name, code]));
  if (snippets.size === 0) throw new Error(`${document} shows no file`);
  return snippets;
}

/** A file that imports every entry's types. */
async function entriesAsTypes(): Promise<string> {
  const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as { exports: object };
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry, n) => `export * as entry${String(n)} from 'helix-temporal${entry.slice(1)}';`)
    .join('\n');
}

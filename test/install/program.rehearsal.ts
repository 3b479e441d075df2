import { randomBytes } from 'node:crypto';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedTemporal } from '../support/product.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { installInto, type Project } from './support/project.js';

const TEMPORAL = ['activity', 'client', 'common', 'worker', 'workflow'];
const temporal = (version: string): string[] =>
  TEMPORAL.map((name) => `@temporalio/${name}@${version}`);

/**
 * Both ends of the version ranges in package.json; npm installs the newest if no version is given.
 */
const ENDS: [name: string, packages: string[]][] = [
  ['the oldest packages that it takes', [...temporal('1.20.1'), 'zod@4.1.8']],
  ['the newest packages that it takes', []],
];
const OPTIONAL = ['react', '@ai-sdk/react@4', 'fast-check@4', '@ai-sdk/openai@4', 'hono@4'];
const TRACING = [
  '@opentelemetry/api@~1.9.0',
  '@opentelemetry/exporter-trace-otlp-http@0.223',
  '@opentelemetry/resources@2',
  '@opentelemetry/sdk-trace-node@2',
];
const CLIENTS_OF_REDIS = ['ioredis5@npm:ioredis@5', 'ioredis6@npm:ioredis@6'];
const TYPES = ['typescript@6.0', '@types/node@22', '@types/react@19', '@types/express@5'];

/** Source of `redis.ts`: both versions of ioredis as the stores' client. */
const BOTH_CLIENTS = `
import * as five from 'ioredis5';
import * as six from 'ioredis6';
import { RedisStateStore, RedisStreamManager } from 'helix-temporal/store-redis';

export const stores = [
  (cluster: five.Cluster) => [new RedisStateStore(cluster), new RedisStreamManager(cluster)],
  (cluster: six.Cluster) => [new RedisStateStore(cluster), new RedisStreamManager(cluster)],
];
const url = process.env.REDIS_URL ?? '';
for (const redis of [new five.Redis(url), new six.Redis(url)]) {
  const store = new RedisStateStore(redis, { prefix: 'either' });
  const manager = new RedisStreamManager(redis, { prefix: 'either' });
  console.log(await store.sessions.read('unknown'), await store.load('unknown'));
  await manager.close();
  redis.disconnect();
}
process.exit();
`;

/** Source of `models.mjs`: resolves `MODEL=` with the model's package installed and without. */
const MODELS = `
import { modelFromSpec } from 'helix-temporal';
console.log((await modelFromSpec('openai:gpt', { OPENAI_API_KEY: 'k' })).modelId);
await modelFromSpec('anthropic:claude', { ANTHROPIC_API_KEY: 'k' }).catch(({ name, install }) => {
  console.log(name, install);
});
`;

/** Source of `own.mjs`: a worker with its own workflow and the plugin. */
const OWN_WORKFLOWS = `
import { Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { createAgentExecutor, createAgentPlugin } from 'helix-temporal/runtime-temporal';
import { createRedisStores } from 'helix-temporal/store-redis';
import { timekeeper } from './agent.mjs';

const { TEMPORAL_ADDRESS: address, REDIS_URL, TASK_QUEUE } = process.env;
const taskQueue = TASK_QUEUE + '-own';
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const agents = [timekeeper];
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./greet.js', import.meta.url)),
  plugins: [createAgentPlugin({ agents, stores })],
});
const connection = await Connection.connect({ address });
const executor = await createAgentExecutor({ connection, taskQueue, agents, stores });
await worker.runUntil(async () => {
  const handle = await executor.execute('timekeeper', 'hello');
  console.log((await handle.result()).status);
});
process.exit();
`;

/** Source of `talk.mjs`: a conversation with the app of `examples/hono`. */
const TALK = `
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { createAgentExecutor } from 'helix-temporal/executor';
import { createRedisStores } from 'helix-temporal/store-redis';
import { timekeeper as agent } from './agent.mjs';
import { createChatApp } from './built/app.js';

const { TEMPORAL_ADDRESS, REDIS_URL, TASK_QUEUE: taskQueue } = process.env;
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
const executor = await createAgentExecutor({ connection, taskQueue, agents: [agent], stores });
const { store: stateStore, streamManager } = stores;
const app = createChatApp({ executor, stateStore, streamManager, agent }, () => ({ userId: 'ann' }));

const url = 'http://host/api/chat/' + randomUUID();
const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
const headers = { 'content-type': 'application/json' };
const reply = await app.request(url, { method: 'POST', headers, body: JSON.stringify({ messages }) });
console.log(await reply.text());
console.log((await (await app.request(url + '/snapshot')).json()).status);
process.exit();
`;

/** Source of `bare.mjs`: an API without the packages of its optional features. */
const BARE = `
import { once } from 'node:events';
import { Connection } from '@temporalio/client';
import { createApi, createApiMetrics } from 'helix-temporal/api';
import { createAgentExecutor } from 'helix-temporal/executor';
import { createRedisStores } from 'helix-temporal/store-redis';
import { timekeeper } from './agent.mjs';

const { TEMPORAL_ADDRESS, REDIS_URL, TASK_QUEUE: taskQueue } = process.env;
const agents = [timekeeper];
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
const executor = await createAgentExecutor({ connection, taskQueue, agents, stores });
const silent = () => undefined;
const logger = { info: silent, warn: silent, error: silent };
const app = createApi({ executor, stores, agents, allowUnauthenticated: true, logger });
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
for (const path of ['/readyz', '/api/openapi.json', '/metrics']) {
  const reply = await fetch('http://127.0.0.1:' + server.address().port + path);
  console.log(reply.status, (await reply.json()).error ?? 'ok');
}
try {
  createApiMetrics();
} catch ({ name }) {
  console.log(name);
}
process.exit();
`;

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
    project = await installInto(
      [...packages, ...OPTIONAL, ...TRACING, ...CLIENTS_OF_REDIS, ...TYPES],
      {
        env: {
          TEMPORAL_ADDRESS: sharedTemporal(),
          REDIS_URL: redis.url,
          TASK_QUEUE: `install-${randomBytes(6).toString('hex')}`,
        },
      },
    );
    const examples = join(project.folder, 'node_modules/helix-temporal/examples');
    await cp(join(examples, 'embed'), project.folder, { recursive: true });
    await cp(join(examples, 'hono/app.ts'), join(project.folder, 'app.ts'));
    await project.start(process.execPath, ['worker.mjs'], "state: 'RUNNING'");
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

  it('the command line runs by npx, and names the package that mcp needs', async () => {
    const doctor = ['helix-temporal', 'doctor', '--engines-only', '-o', 'json'];
    expect(JSON.parse(await project.run('npx', doctor))).toMatchObject({ verdict: 'ok' });
    await expect(project.run('npx', ['helix-temporal', 'mcp'])).rejects.toThrow(
      'npm install @modelcontextprotocol/sdk',
    );
  });

  it('an API works without the packages of single features, and names them where they are needed', async () => {
    await project.write('bare.mjs', BARE);
    const printed = await project.run(process.execPath, ['bare.mjs']);
    const needs = (what: string, release: string): string =>
      `503 ${what} needs a package that is not installed: npm install ${release}`;
    expect(printed.trim().split('\n')).toEqual([
      '200 ok',
      needs('The OpenAPI document', 'zod-openapi@5'),
      needs('The meter of the API', 'prom-client@15'),
      'MissingPackageError',
    ]);
  });

  it('a worker of its own and a program run an agent', async () => {
    const printed = await project.run(process.execPath, ['ask.mjs', 'hello']);
    expect(printed).toContain('hello');
    expect(printed).toMatch(/\ncompleted\n$/);
  });

  it('a worker with workflows of its own runs agents beside them', async () => {
    await project.write('greet.js', 'export const greet = async (name) => `hello ${name}`;');
    await project.write('own.mjs', OWN_WORKFLOWS);
    expect(await project.run(process.execPath, ['own.mjs'])).toMatch(/completed\n$/);
  });

  it('the example for Hono streams a reply and shows the conversation', async () => {
    await project.run('npx', ['tsc', ...STRICT, ...NODENEXT, '--outDir', 'built', 'app.ts']);
    await project.write('talk.mjs', TALK);
    const printed = await project.run(process.execPath, ['talk.mjs']);
    expect(printed).toContain('hello');
    expect(printed).toMatch(/\[DONE\]\n+ended\n$/);
  });

  it('the stores take clients of ioredis 5 and 6, and their types accept both', async () => {
    await project.write('redis.ts', BOTH_CLIENTS);
    await project.run('npx', ['tsc', ...STRICT, ...NODENEXT, '--outDir', 'built', 'redis.ts']);
    const printed = await project.run(process.execPath, ['built/redis.js']);
    expect(printed.trim().split('\n')).toEqual(['undefined null', 'undefined null']);
  });

  it('a model of a provider that is not installed is refused with the command to install it', async () => {
    await project.write('models.mjs', MODELS);
    const printed = await project.run(process.execPath, ['models.mjs']);
    expect(printed.trim().split('\n')).toEqual([
      'gpt',
      'ModelConfigurationError npm install @ai-sdk/anthropic@4',
    ]);
  });

  it.each(['nodenext', 'bundler'])(
    'its types, and the files in the documents, hold in strict TypeScript with %s',
    async (kind) => {
      await project.write('types.ts', await entriesAsTypes());
      await project.write('globals.d.ts', GLOBALS);
      const snippets = new Map([
        ...(await snippetsOf('README.md')),
        ...(await snippetsOf('docs/http.md')),
      ]);
      for (const [name, code] of snippets) await project.write(name, code);
      const files = ['types.ts', 'globals.d.ts', ...snippets.keys()];
      const module = kind === 'bundler' ? 'esnext' : kind;
      const options = ['--moduleResolution', kind, '--module', module];
      const checks = ['--noEmit', '--jsx', 'react-jsx'];
      await project.run('npx', ['tsc', ...options, ...STRICT, ...checks, ...files]);
    },
    120_000,
  );
});

const STRICT = ['--strict', '--skipLibCheck', '--target', 'es2023', '--types', 'node'];
const NODENEXT = ['--moduleResolution', 'nodenext', '--module', 'nodenext'];

/** Declarations that the snippets leave to their reader. */
const GLOBALS = `
declare function signedIn(request: unknown): { userId: string } | undefined;
`;

/** Returns the code blocks of a document that begin with a file name. */
async function snippetsOf(document: string): Promise<Map<string, string>> {
  const text = await readFile(document, 'utf8');
  const blocks = text.matchAll(/^```tsx?\n(\/\/ ([\w-]+\.tsx?)\b[^]*?)^```$/gm);
  const snippets = new Map([...blocks].map(([, code = '', name = '']) => [name, code]));
  if (snippets.size === 0) throw new Error(`${document} shows no file`);
  return snippets;
}

/** Returns a file that imports the types of every entry. */
async function entriesAsTypes(): Promise<string> {
  const { exports } = JSON.parse(await readFile('package.json', 'utf8')) as { exports: object };
  return Object.keys(exports)
    .filter((entry) => !entry.endsWith('.json'))
    .map((entry, n) => `export * as entry${String(n)} from 'helix-temporal${entry.slice(1)}';`)
    .join('\n');
}

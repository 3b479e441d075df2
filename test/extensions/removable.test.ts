import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AgentRegistry } from '../../agents/index.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import { createInProcessExecutor } from '../../extensions/one-process/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { say, startApi } from '../api/api-server.js';

const SOURCES =
  'protocol agents session store run workflows activities runs worker ai-sdk api config extensions cli testing web/src examples bench';
/** Files that list the extensions. */
const LISTS = new Set(
  ['agents', 'api', 'index', 'worker', 'workflows'].map((name) => `extensions/${name}.ts`),
);
/** Other files that name an extension: they start it first, read its settings or show it. */
const KNOWN_BY: Record<string, string[]> = {
  compaction: ['examples/long-conversation/agent.ts'],
  codec: ['api/main.ts', 'cli/doctor/examine.ts', 'worker/run-main.ts'],
  doctor: [
    'api/main.ts',
    'cli/doctor/check-temporal.ts',
    'cli/doctor/examine.ts',
    'worker/run-main.ts',
  ],
  jwt: ['api/main.ts'],
  leases: ['worker/main.ts', 'worker/run-main.ts'],
  limits: ['cli/doctor/examine.ts'],
  metrics: ['api/main.ts', 'worker/run-main.ts'],
  notify: ['api/main.ts', 'cli/doctor/check-receivers.ts', 'worker/run-main.ts'],
  observe: ['api/main.ts', 'worker/main.ts'],
  'one-process': [
    'testing/create-test-runtime.ts',
    'testing/eval/run-lane.ts',
    'testing/test-clock.ts',
  ],
  'own-files': [
    'api/main.ts',
    'cli/doctor/examine.ts',
    'cli/eval/run-cases.ts',
    'cli/run.ts',
    'worker/main.ts',
    'worker/run-main.ts',
  ],
  'temporal-tools': ['examples/own-workflow/warehouse.ts'],
};
const EXTENSIONS = readdirSync('extensions', { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name);

const imports = SOURCES.split(' ').flatMap((room) =>
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .flatMap((file) => {
      const path = join(room, file);
      const named = readFileSync(path, 'utf8').matchAll(/(?:from|import)[\s(]*'(\.[^']+)'/g);
      return [...named].map(([, target = '']) => [path, join(dirname(path), target)] as const);
    }),
);

it.each(EXTENSIONS)('the extension %s goes with its folder and its lines in the lists', (name) => {
  expect(imports.length).toBeGreaterThan(3_000);
  const folder = `extensions/${name}/`;
  const others = imports.flatMap(([path, target]) =>
    target.startsWith(folder) && !path.startsWith(folder) && !LISTS.has(path) ? [path] : [],
  );
  expect([...new Set(others)].sort()).toEqual(KNOWN_BY[name] ?? []);
});

it('without any, a chat asks, is answered and ends', async () => {
  const stores = createMemoryStores();
  const agents = new AgentRegistry([createLabAgent({})]);
  const executor = createInProcessExecutor({ agents, stores });
  const server = await startApi({
    executor,
    stores,
    agents,
    extensions: [],
  });
  const script = [{ calls: [{ tool: 'locate', id: 'c1', args: {} }] }, { say: 'in Rome' }];
  const messages = [say('u1', JSON.stringify({ script }))];
  const asked = await server.post('/api/chat/bare?agent=lab', { id: 'bare', messages });
  expect(await asked.text()).toContain('"toolCallId":"c1"');
  const answered = await server.post('/api/chat/bare/pending/c1', { result: { city: 'Rome' } });
  expect(answered.status).toBe(202);
  await executor.idle();
  expect(await (await server.get('/api/chat/bare/messages')).text()).toContain('in Rome');
  await executor.close();
});

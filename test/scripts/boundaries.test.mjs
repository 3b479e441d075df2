import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { projectRoot } from '../../scripts/system/project.mjs';

const config = createRequire(import.meta.url)(join(projectRoot, '.dependency-cruiser.cjs'));

/** For each rule a file, and what it must not import. */
const FORBIDDEN = {
  'no-circular': ['stores/log/a-loop.ts', './loop.js'],
  'tests-are-not-imported': ['protocol/of-tests.ts', '../test/any.js'],
  'protocol-imports-inward': ['protocol/a.ts', '../stores/contract/any.js'],
  'config-imports-inward': ['config/a.ts', '../agents/any.js'],
  'agents-imports-inward': ['agents/a.ts', '../stores/contract/any.js'],
  'session-imports-inward': ['session/a.ts', '../stores/contract/any.js'],
  'session-is-pure': ['session/b.ts', 'zod'],
  'store-imports-inward': ['store/a.ts', '../stores/contract/any.js'],
  'stores-imports-inward': ['stores/record/a.ts', '../../executor/any.js'],
  'memory-needs-no-redis-client': ['stores/memory/a.ts', '../redis/clients.js'],
  'notify-imports-inward': ['notify/a.ts', '../stores/contract/any.js'],
  'tracing-imports-inward': ['tracing/a.ts', '../stores/log/b.js'],
  'traces-are-loaded-where-wanted': ['worker/traced.ts', '../tracing/a-start.js'],
  'workflows-imports-inward': ['workflows/a.ts', '../stores/contract/any.js'],
  'activities-imports-inward': ['activities/a.ts', '../executor/any.js'],
  'executor-imports-inward': ['executor/a.ts', '../activities/any.js'],
  'in-process-imports-inward': ['in-process/a.ts', '../worker/any.js'],
  'one-process-needs-no-engine': ['in-process/b.ts', '../executor/agent-executor.js'],
  'testing-imports-inward': ['testing/a.ts', '../api/any.js'],
  'tests-need-no-engine': ['testing/b.ts', '../worker/any.js'],
  'ai-sdk-imports-inward': ['ai-sdk/turns/a.ts', '../../agents/any.js'],
  'api-imports-inward': ['api/a.ts', '../activities/any.js'],
  'worker-imports-inward': ['worker/a.ts', '../workflows/any.js'],
  'worker-process-serves-its-metrics': ['worker/main.ts', '../api/any.js'],
  'cli-imports-inward': ['cli/a.ts', '../api/any.js'],
  'commands-talk-http': ['cli/commands/a.ts', '../../stores/contract/any.js'],
  'commands-start-fast': ['cli/commands/b.ts', '../../protocol/limits.js'],
  'examples-imports-inward': ['examples/embed/a.ts', '../../api/any.js'],
  'product-knows-no-example': ['api/b.ts', '../examples/any.js'],
  'agents-of-examples-are-plain': ['examples/lab/a.ts', '../../stores/contract/any.js'],
  'web-imports-inward': ['web/src/a.ts', '../../stores/contract/any.js'],
  'page-takes-what-applications-take': ['web/src/b.ts', '../../ai-sdk/client/any.js'],
  'browsers-take-no-server': ['ai-sdk/client/a.ts', '../../protocol/limits.js'],
  'parts-are-pure': ['ai-sdk/parts/a.ts', '../../protocol/limits.js'],
  'turns-only-read': ['ai-sdk/turns/b.ts', '../../executor/any.js'],
  'parts-know-no-turn': ['ai-sdk/parts/b.ts', '../turns/any.js', 'type'],
  'replies-know-no-page': ['ai-sdk/reply/a.ts', '../client/any.js'],
  'browsers-have-no-node': ['ai-sdk/react/a.ts', 'node:fs'],
  'contract-is-types': ['stores/contract/a.ts', '../record/any.js'],
  'record-and-log-over-any-store': ['stores/record/b.ts', '../redis/any.js'],
  'stores-by-their-seam': ['activities/b.ts', '../stores/memory/any.js'],
  'workflows-take-no-values-with-zod': ['workflows/b.ts', '../protocol/chunk.js'],
  'react-packages-at-their-place': ['ai-sdk/client/b.ts', 'react'],
  'redis-packages-at-their-place': ['executor/b.ts', 'ioredis'],
  'tracing-packages-at-their-place': ['activities/traced.ts', '@opentelemetry/api'],
  'command-line-packages-at-their-place': ['executor/e.ts', 'commander'],
  'http-packages-at-their-place': ['executor/c.ts', 'express'],
  'tokens-packages-at-their-place': ['executor/f.ts', 'jose'],
  'notices-packages-at-their-place': ['executor/g.ts', 'standardwebhooks'],
  'temporal-packages-at-their-place': ['stores/record/c.ts', '@temporalio/client'],
  'model-packages-at-their-place': ['executor/d.ts', '@ai-sdk/provider'],
  'workflows-know-temporal-only': ['workflows/c.ts', 'jose'],
  'pages-bring-their-own-ai': ['ai-sdk/client/c.ts', 'zod'],
};

let folder;
let found;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'helix-boundaries-'));
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const write = (file, text) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write('tsconfig.json', '{ "compilerOptions": { "module": "nodenext" } }');
  for (const [file, target, kind = ''] of Object.values(FORBIDDEN)) {
    write(
      file,
      `import ${kind} { any } from '${target}';\nexport const used = ${kind === '' ? 'any' : '1'};\n`,
    );
    if (!target.startsWith('.')) continue;
    const imported = join(dirname(file), target).replace(/\.js$/, '.ts');
    write(imported, 'export const any = 1;\n');
  }
  write(
    'stores/log/loop.ts',
    "import { used } from './a-loop.js';\nexport const any = () => used;\n",
  );
  const { output } = await cruise(['.'], {
    ...config.options,
    baseDir: folder,
    ruleSet: { forbidden: config.forbidden },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^node_modules' },
    tsConfig: undefined,
  });
  found = output.summary.violations;
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

it('every rule about imports is tried', () => {
  expect(Object.keys(FORBIDDEN)).toEqual(config.forbidden.map(({ name }) => name));
});

it.each(Object.entries(FORBIDDEN))(
  'the rule %s finds the import that it forbids',
  (rule, [file]) => {
    const broken = found
      .filter(({ from }) => from === file)
      .map((violation) => violation.rule.name);
    expect(broken).toContain(rule);
  },
);

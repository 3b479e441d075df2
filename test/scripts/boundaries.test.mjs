import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import { projectRoot } from '../../scripts/system/project.mjs';

const config = createRequire(import.meta.url)(join(projectRoot, '.dependency-cruiser.cjs'));

/** Pairs of a file and an import that it must not have. */
const FORBIDDEN = [
  ['store/log/a-loop.ts', './loop.js'],
  ['protocol/of-tests.ts', '../test/any.js'],
  ['protocol/a.ts', '../store/contract/any.js'],
  ['config/a.ts', '../agents/any.js'],
  ['agents/a.ts', '../store/contract/any.js'],
  ['session/a.ts', '../store/contract/any.js'],
  ['session/b.ts', 'zod'],
  ['store/a.ts', '../store/contract/any.js'],
  ['store/record/a.ts', '../../runs/any.js'],
  ['store/memory/a.ts', '../redis/clients.js'],
  ['extensions/notify/a.ts', '../../cli/any.js'],
  ['worker/main.traced.ts', '../extensions/observe/a-start.js'],
  ['worker/extended.ts', '../extensions/remote/any.js'],
  ['workflows/a.ts', '../store/contract/any.js'],
  ['activities/a.ts', '../runs/any.js'],
  ['runs/a.ts', '../activities/any.js'],
  ['extensions/one-process/a.ts', '../../worker/any.js'],
  ['extensions/one-process/b.ts', '../../runs/temporal-executor.js'],
  ['testing/a.ts', '../api/any.js'],
  ['testing/b.ts', '../worker/any.js'],
  ['ai-sdk/turns/a.ts', '../../agents/any.js'],
  ['api/a.ts', '../activities/any.js'],
  ['worker/a.ts', '../workflows/any.js'],
  ['worker/main.ts', '../api/any.js'],
  ['cli/a.ts', '../api/any.js'],
  ['cli/commands/a.ts', '../../store/contract/any.js'],
  ['cli/commands/b.ts', '../../protocol/limits.js'],
  ['examples/embed/a.ts', '../../api/any.js'],
  ['api/b.ts', '../examples/any.js'],
  ['index.ts', './examples/any.js'],
  ['examples/lab/a.ts', '../../store/contract/any.js'],
  ['web/src/a.ts', '../../store/contract/any.js'],
  ['web/src/b.ts', '../../ai-sdk/client/any.js'],
  ['ai-sdk/client/a.ts', '../../protocol/limits.js'],
  ['ai-sdk/parts/a.ts', '../../protocol/replies.js'],
  ['ai-sdk/turns/b.ts', '../../runs/any.js'],
  ['ai-sdk/parts/b.ts', '../turns/any.js', 'type'],
  ['ai-sdk/reply/a.ts', '../client/any.js'],
  ['ai-sdk/react/a.ts', 'node:fs'],
  ['store/contract/a.ts', '../record/any.js'],
  ['store/record/b.ts', '../redis/any.js'],
  ['activities/b.ts', '../store/memory/any.js'],
  ['workflows/b.ts', '../protocol/chunk.js'],
  ['ai-sdk/client/b.ts', 'react'],
  ['runs/b.ts', 'ioredis'],
  ['activities/traced.ts', '@opentelemetry/api'],
  ['runs/e.ts', 'commander'],
  ['runs/c.ts', 'express'],
  ['runs/f.ts', 'jose'],
  ['runs/g.ts', 'nodemailer'],
  ['runs/i.ts', 'prom-client'],
  ['api/c.ts', '@fastify/busboy'],
  ['api/d.ts', 'zod-openapi'],
  ['agents/b.ts', 'jiti'],
  ['store/record/c.ts', '@temporalio/client'],
  ['runs/record/a.ts', '../executor-any.js'],
  ['runs/record/b.ts', '@temporalio/client'],
  ['runs/d.ts', '@ai-sdk/provider'],
  ['extensions/jwt/a.ts', 'jose'],
  ['workflows/c.ts', 'jose'],
  ['workflows/d.ts', '../extensions/any-workflows.js'],
  ['run/a.ts', '../workflows/any.js'],
  ['extensions/notify/workflows.ts', '../../activities/any.js'],
  ['extensions/remote/a.ts', '../one-process/any.js'],
  ['extensions/audit/a.ts', '../../api/any.js'],
  ['extensions/audit/b.ts', '../files/any.js'],
  ['runs/h.ts', '../extensions/index.js'],
  ['ai-sdk/client/c.ts', 'zod'],
  ['worker/b.ts', '../api/listen.js'],
];

/** Imports that other files must not have, or must have only as types. */
const ALLOWED = [
  ['worker/index.ts', '../activities/any.js'],
  ['api/main.ts', '../examples/any.js'],
  ['worker/one/main.ts', '../../extensions/index.js'],
  ['extensions/audit/c.ts', '../../api/extension.js'],
  ['store/memory/b.ts', '../redis/open-stores.js', 'type'],
  ['ai-sdk/client/d.ts', '../../runs/any.js', 'type'],
  ['extensions/one-process/c.ts', '../../runs/temporal-executor.js', 'type'],
  ['testing/temporal/a.ts', '../../worker/any.js'],
  ['cli/doctor/a.ts', '../../store/contract/any.js'],
  ['extensions/jwt/b.ts', 'jose', 'type'],
  ['web/src/c.ts', '../../ai-sdk/client/index.js'],
];

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
  for (const [file, target, kind = ''] of [...FORBIDDEN, ...ALLOWED]) {
    write(
      file,
      `import ${kind} { any } from '${target}';\nexport const used = ${kind === '' ? 'any' : '1'};\n`,
    );
    if (!target.startsWith('.')) continue;
    const imported = join(dirname(file), target).replace(/\.js$/, '.ts');
    write(imported, 'export const any = 1;\n');
  }
  write(
    'store/log/loop.ts',
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
});
afterAll(() => rmSync(folder, { recursive: true }));

const rulesBrokenBy = (file) =>
  found.filter(({ from }) => from === file).map(({ rule }) => rule.name);

it.each(FORBIDDEN)('%s must not import %s', (file) => {
  expect(rulesBrokenBy(file)).not.toEqual([]);
});

it.each(ALLOWED)('%s may import %s', (file) => {
  expect(rulesBrokenBy(file)).toEqual([]);
});

it('every rule about imports is tried', () => {
  const rules = config.forbidden.map(({ name }) => name);
  expect(rules.filter((name) => !found.some(({ rule }) => rule.name === name))).toEqual([]);
});

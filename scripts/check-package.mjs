// `npm run package`: packs the product as a registry would get it, and checks what others will install.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build } from './build.mjs';
import { BROWSER_ENTRIES, bundleForBrowser } from './package/browser-bundles.mjs';
import { findUnreachable } from './package/find-unreachable.mjs';
import { pack } from './package/pack.mjs';
import { projectRoot } from './system/project.mjs';
import { runMain, UserError } from './system/user-error.mjs';

/** Loaded by their paths: workflow code runs in a sandbox of Temporal's. */
const BESIDE = new Set([
  'dist/workflows/bundle.js',
  'dist/extensions/with-own-workflows.js',
  'dist/extensions/leases/thread.js',
  'dist/store/redis/open-leases.js',
]);
/** Run by their paths, by the command line, or by browsers. */
const PROCESSES = [
  'dist/api/main.js',
  'dist/worker/main.js',
  'scripts/start/own-agents.mjs',
  'scripts/temporal-ui/main.mjs',
  'templates/write-app.mjs',
];
/** The agents that both run in a clone. */
const EXAMPLES = new Set(['dist/examples/index.js', 'dist/examples/charge-counter.js']);
/** The package is ESM only, which `require` and the oldest resolution of TypeScript cannot load. */
const ESM_ONLY = new Set(['CJSResolvesToESM', 'NoResolution']);

await runMain(async () => {
  await build({ types: true });
  const folder = await mkdtemp(join(tmpdir(), 'helix-package-'));
  try {
    const tarball = new Uint8Array(readFileSync(await pack(folder, { scripts: false })));
    const contents = createPackageFromTarballData(tarball);
    const root = `/node_modules/${contents.packageName}/`;
    const files = contents.listFiles(root).map((path) => path.slice(root.length));
    const faults = [
      ...(await lint(tarball)),
      ...(await checkTypes(contents)),
      ...(await findNodeImports()),
      ...findUnreachable(files, (file) => contents.readFile(root + file), {
        processes: PROCESSES,
        absent: EXAMPLES,
      })
        .filter((file) => !BESIDE.has(file) && !file.startsWith('dist/web/'))
        .map((file) => `${file} is in the package, and no entry leads to it`),
    ];
    if (faults.length > 0) throw new UserError(`The package has faults:\n${faults.join('\n')}`);
    process.stdout.write(`${files.length} files, no faults\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

async function lint(tarball) {
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer } });
  return messages.map((message) => `publint: ${formatMessage(message, pkg)}`);
}

async function checkTypes(contents) {
  const { problems } = await checkPackage(contents);
  return problems
    .filter(({ kind, resolutionKind }) => !ESM_ONLY.has(kind) || resolutionKind === 'bundler')
    .map((problem) => `types: ${JSON.stringify(problem)}`);
}

/** What pages could not load. */
async function findNodeImports() {
  const bundles = await Promise.all(
    BROWSER_ENTRIES.map((entry) => bundleForBrowser(projectRoot, entry)),
  );
  return bundles.flatMap(({ nodeImports }) => nodeImports);
}

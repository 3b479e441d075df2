// `npm run package`: packs the product as for a registry and checks the result.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { build as bundle } from 'vite';
import { build } from './build.mjs';
import { pack } from './package/pack.mjs';
import { projectRoot, runMain, UserError } from './system/project.mjs';

/** Files loaded by path, because workflow code runs in Temporal's sandbox. */
const BESIDE = new Set([
  'dist/workflows/bundle.js',
  'dist/extensions/with-own-workflows.js',
  'dist/extensions/leases/thread.js',
  'dist/store/redis/open-leases.js',
]);
/** Files run by path, by the command line, or by browsers. */
const PROCESSES = [
  'dist/api/main.js',
  'dist/worker/main.js',
  'scripts/start/own-agents.mjs',
  'scripts/temporal-ui/main.mjs',
  'templates/write-app.mjs',
];
/** Agents that both processes run in a clone. */
const EXAMPLES = new Set(['dist/examples/index.js', 'dist/examples/charge-counter.js']);
/** The package is ESM only, which `require` and TypeScript's oldest resolution cannot load. */
const ESM_ONLY = new Set(['CJSResolvesToESM', 'NoResolution']);

/** Entries for web pages, each bundled as a page's bundler does it. */
const BROWSER_ENTRIES = ['./protocol', './ai-sdk/client', './ai-sdk/react'];
const MAX_DEPENDENCIES = 14;

/** A page brings these packages itself: peers, and the AI SDK. */
const OF_THE_PAGE = /^(ai|react|react-dom|zod|@ai-sdk\/react)(\/|$)/;
const IMPORT = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+\.m?js)['"]/g;

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
      ...findTooMany(),
      ...findUnreachable(files, (file) => contents.readFile(root + file)).map(
        (file) => `${file} is in the package, and no entry leads to it`,
      ),
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

/** What only one feature needs is an optional peer: a person who runs agents and a chat installs no more. */
function findTooMany() {
  const { dependencies } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const count = Object.keys(dependencies).length;
  return count > MAX_DEPENDENCIES
    ? [`${count} dependencies are more than ${MAX_DEPENDENCIES}`]
    : [];
}

/** Finds imports of browser entries that a page cannot load. */
async function findNodeImports() {
  const { exports } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const found = [];
  for (const entry of BROWSER_ENTRIES) {
    await bundle({
      root: projectRoot,
      configFile: false,
      logLevel: 'silent',
      plugins: [
        {
          name: 'find-node-imports',
          enforce: 'pre',
          resolveId(id, importer) {
            if (isBuiltin(id)) found.push(`${importer ?? entry} imports ${id}`);
          },
        },
      ],
      build: {
        write: false,
        target: 'es2022',
        rolldownOptions: {
          input: join(projectRoot, exports[entry].default),
          external: OF_THE_PAGE,
          preserveEntrySignatures: 'strict',
        },
      },
    });
  }
  return found;
}

/**
 * Finds code that no entry, command or process imports, directly or not.
 *
 * @param files paths from the package's root
 * @param read returns the text of a file
 */
function findUnreachable(files, read) {
  const { exports, bin } = JSON.parse(read('package.json'));
  const entries = Object.values(exports).flatMap((entry) => entry.default ?? []);
  const open = [...entries, ...Object.values(bin), ...PROCESSES];
  const reached = new Set();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const path = posix.normalize(file);
    if (reached.has(path) || EXAMPLES.has(path)) continue;
    reached.add(path);
    for (const [, target] of read(path).matchAll(IMPORT))
      open.push(posix.join(posix.dirname(path), target));
  }
  return files.filter(
    (file) =>
      /^(dist(?!\/web\/)|scripts)\/.*\.m?js$/.test(file) &&
      !reached.has(file) &&
      !BESIDE.has(file) &&
      !isTypesOnly(read(file)),
  );
}

/** Returns true for the output of a file that had only types. */
function isTypesOnly(code) {
  return code.replace(/\/\*[^]*?\*\/|\/\/.*/g, '').trim() === 'export { };';
}

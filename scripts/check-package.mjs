// `npm run package`: packs the product as a registry would get it, and checks what others will install.
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

/** The entries that web pages import, each bundled as a page's bundler does it. */
const BROWSER_ENTRIES = ['./protocol', './ai-sdk/client', './ai-sdk/react'];
/** A page has these already: peers, and the AI SDK. */
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

/** What pages could not load, though an entry that they import would have them load it. */
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
 * The code of a package that none of its entries, commands and processes imports, directly or not.
 *
 * @param files paths from the package's root
 * @param read  the text of a file
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

/** What is left of a file of types. */
function isTypesOnly(code) {
  return code.replace(/\/\*[^]*?\*\/|\/\/.*/g, '').trim() === 'export { };';
}

// The entries that web pages import, each bundled as a page's bundler does it.
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

export const BROWSER_ENTRIES = ['./protocol', './ai-sdk/client', './ai-sdk/react'];
/** A page has these already: peers, and the AI SDK. */
const OF_THE_PAGE = /^(ai|react|react-dom|zod|@ai-sdk\/react)(\/|$)/;
const BUILTIN = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));

/**
 * Bundles an entry of the built package in `root`.
 *
 * @returns bytes, minified and with gzip, without what the page brings itself; and the imports of Node modules
 */
export async function bundleForBrowser(root, entry) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const file = join(root, exports[entry].default);
  const nodeImports = [];
  const findNodeImports = {
    name: 'find-node-imports',
    enforce: 'pre',
    resolveId(id, importer) {
      if (BUILTIN.has(id)) nodeImports.push(`${importer ?? entry} imports ${id}`);
    },
  };
  const { output } = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: [findNodeImports],
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: file,
        external: OF_THE_PAGE,
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  });
  const code = output.map((part) => part.code ?? '').join('');
  return { bytes: Buffer.byteLength(code), gzipBytes: gzipSync(code).length, nodeImports };
}

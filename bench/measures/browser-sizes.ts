import type * as BrowserBundles from '../../scripts/package/browser-bundles.mjs';
import type { Measurement } from '../bench.js';

/** What a page downloads for each entry of the package, beside React and the AI SDK. */
export const browserSizes: Measurement = {
  name: 'browser-sizes',
  take: async ({ say }) => {
    say('browser-sizes: bundling');
    const { BROWSER_ENTRIES, bundleForBrowser } = await loadBundles();
    const root = new URL('../../..', import.meta.url).pathname;
    const rows = [];
    for (const entry of BROWSER_ENTRIES) {
      const { bytes, gzipBytes } = await bundleForBrowser(root, entry);
      rows.push(
        { what: `${entry}, minified`, unit: 'bytes' as const, value: { p50: bytes } },
        { what: `${entry}, with gzip`, unit: 'bytes' as const, value: { p50: gzipBytes } },
      );
    }
    return { rows, notes: [] };
  },
};

/** This file is compiled into dist; scripts stay where they are. */
function loadBundles(): Promise<typeof BrowserBundles> {
  const path = '../../../scripts/package/browser-bundles.mjs';
  return import(new URL(path, import.meta.url).href) as Promise<typeof BrowserBundles>;
}

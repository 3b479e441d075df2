// The types of browser-bundles.mjs, for the bench.

export const BROWSER_ENTRIES: readonly string[];
export function bundleForBrowser(
  root: string,
  entry: string,
): Promise<{ bytes: number; gzipBytes: number; nodeImports: string[] }>;

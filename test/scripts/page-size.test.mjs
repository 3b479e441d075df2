import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Limits on the compressed size of the scripts that each page loads before it is shown, bytes. */
const MAX_BYTES = { 'index.html': 160_000, 'console.html': 90_000 };

/** Returns the compressed size, bytes, of the scripts that each page loads at once. */
function pageSizes(folder) {
  return Object.fromEntries(
    Object.keys(MAX_BYTES).map((page) => {
      const html = readFileSync(join(folder, page), 'utf8');
      const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)];
      const scripts = names.map(([, name]) => gzipSync(readFileSync(join(folder, name))).length);
      return [page, scripts.reduce((sum, bytes) => sum + bytes, 0)];
    }),
  );
}

it('each page loads no more scripts than its limit before it is shown', () => {
  const sizes = pageSizes('dist/web');
  // A page without scripts would pass the limit.
  for (const bytes of Object.values(sizes)) expect(bytes).toBeGreaterThan(50_000);
  expect(Object.entries(sizes).filter(([page, bytes]) => bytes > MAX_BYTES[page])).toEqual([]);
});

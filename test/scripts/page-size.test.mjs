import { MOST_BYTES, pageSizes } from '../../scripts/bench/page-size.mjs';

it('each page loads no more scripts than its limit before it is shown', () => {
  const sizes = pageSizes('dist/web');
  // A page that names no script would pass.
  for (const bytes of Object.values(sizes)) expect(bytes).toBeGreaterThan(50_000);
  expect(Object.entries(sizes).filter(([page, bytes]) => bytes > MOST_BYTES[page])).toEqual([]);
});

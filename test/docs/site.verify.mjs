import { pagesOf } from '../../scripts/site/pages.mjs';
import { referenceOf } from '../../scripts/site/reference.mjs';
import { entrySources } from './factories.js';

it('every document becomes a page of the site, and every entry of the package has its types', () => {
  const pages = pagesOf(process.cwd());
  expect(pages.get('index.md')).toContain('# helix-temporal');
  const reference = referenceOf(process.cwd());
  expect(reference.size).toBe(entrySources().size + 1);
  expect(reference.get('reference/main.md')).toContain('## defineAgent');
  expect(reference.get('reference/main.md')).toMatch(/function defineTool</);
}, 120_000);

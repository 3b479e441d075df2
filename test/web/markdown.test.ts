import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Markdown, isPlain } from '../../web/src/markdown.js';

const show = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

it('Markdown shows headings, lists, links, tables and code as elements', () => {
  const html = show(
    '# Title\n\n- one\n- **two**\n\n[here](https://a.example/x)\n\n| a | b |\n|---|---|\n| 1<br>2 | `c` |\n\n```js\nlet a = 1;\n```',
  );
  for (const part of [
    '<h1>Title</h1>',
    '<li>one</li>',
    '<strong>two</strong>',
    '<a href="https://a.example/x" target="_blank" rel="noreferrer noopener">here</a>',
    '<th>a</th>',
    '<td>1<br/>',
    '<code>c</code>',
    'let a = 1;',
    'Copy</button>',
  ]) {
    expect(html).toContain(part);
  }
});

it('Markdown keeps line breaks, and shows marks that are still open as what they will be', () => {
  expect(show('one\ntwo')).toContain('one<br/>\ntwo');
  expect(show('some **bo')).toContain('<strong>bo</strong>');
  expect(show('```\nopen')).toContain('<code>open');
});

it.each([
  ['a script', '<script>alert(1)</script>'],
  ['a handler', 'see <img src=x onerror=alert(1)> there'],
  ['a drawing', '<svg onload="alert(1)">'],
  ['a frame', '<iframe src="https://evil.example"></iframe>'],
])('Markdown shows HTML as the text that it is: %s', (_name, text) => {
  const html = show(text);
  expect(html).not.toMatch(/<(script|img|iframe|svg)/);
  expect(html).toContain('&lt;');
});

it('Markdown loads nothing from elsewhere', () => {
  const html = show('![chart](https://evil.example/x.png?words=secret)');
  expect(html).not.toContain('<img');
  expect(html).toContain('>chart</a>');
});

it.each(['javascript:alert(1)', 'data:text/html,x', 'vbscript:x', '//evil.example'])(
  'Markdown makes no link of %s',
  (url) => expect(show(`[click](${url})`)).not.toContain('href'),
);

it.each([
  ['a megabyte in one line', 'a**b '.repeat(200_000)],
  ['a long paragraph of open marks', '~~a'.repeat(3_000)],
  ['quotes in quotes', `${'> '.repeat(5_000)}deep`],
  ['lists in lists', `${'- '.repeat(5_000)}deep`],
])('Markdown too large to read stays plain text: %s', (_name, text) => {
  expect(isPlain(text)).toBe(true);
  expect(show(text)).toContain('plain-text');
});

it('long replies of ordinary paragraphs, tables, lists and code are Markdown', () => {
  const row = '| a cell of some length | another cell | 12.50 |\n';
  const item = '- an item of a long list, with **words** in bold\n';
  const code = `\`\`\`\n${'const value = compute(value);\n'.repeat(500)}\`\`\`\n`;
  for (const text of [row.repeat(300), item.repeat(300), code, 'Some words. '.repeat(300)]) {
    expect(isPlain(text)).toBe(false);
  }
});

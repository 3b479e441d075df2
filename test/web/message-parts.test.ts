import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { FileView } from '../../web/src/file-view.js';
import { sentAtOf } from '../../web/src/message-text.js';

// Any client may have written a message that the page shows.

const fileAt = (url: string, mediaType = 'image/png'): string =>
  renderToStaticMarkup(
    createElement(FileView, { file: { type: 'file', url, mediaType, filename: 'a.png' } }),
  );

it('only images that a message itself contains are shown, and only addresses of the web are links', () => {
  expect(fileAt('data:image/png;base64,AA==')).toContain('<img ');
  expect(fileAt('/api/chat/s1/files/0123456789abcdef')).toContain('<img ');
  expect(fileAt('data:image/svg+xml,x', 'image/svg+xml')).toMatch(/^<a /);
  expect(fileAt('https://elsewhere.test/a.png')).toMatch(/^<a /);
  for (const url of ['javascript:alert(1)', 'blob:x', ''])
    expect(fileAt(url)).toBe('<span class="file">a.png</span>');
});

it('a time of sending is one that can be shown', () => {
  const at = (metadata: unknown) => sentAtOf({ id: 'u1', role: 'user', parts: [], metadata });
  expect(at({ sentAt: 5 })).toBe(5);
  for (const metadata of [undefined, null, 'x', {}, { sentAt: '5' }, { sentAt: 1e300 }])
    expect(at(metadata)).toBeUndefined();
});

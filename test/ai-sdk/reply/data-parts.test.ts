import { randomUUID } from 'node:crypto';
import { convertToUIMessages } from '../../../ai-sdk/parts/convert-messages.js';
import {
  isSameContent,
  requireFiles,
  toUserMessages,
  withText,
} from '../../../ai-sdk/reply/user-messages.js';
import { formatFileUrl } from '../../../protocol/ids.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { PostedMessage } from '../../../protocol/http.js';

type Parts = NonNullable<PostedMessage['parts']>;

const text = (value: string): Parts[number] => ({ type: 'text', text: value });
const place = { type: 'data-place', id: 'p1', data: { name: 'Bern' } };

function accept(parts: Parts) {
  const [message] = toUserMessages([{ id: 'u1', role: 'user', parts }]);
  if (message === undefined) throw new Error('not accepted');
  return message;
}

const shown = (parts: Parts): unknown => convertToUIMessages([accept(parts).row])[0]?.parts;

describe("a page's own parts of a user message", () => {
  it.each([
    ['before the text', [place, text('a')]],
    ['after it', [text('a'), place]],
    ['between others', [place, { ...place, id: 'p2' }, text('a'), place, text('b'), place]],
    ['without an id', [text('a'), { type: 'data-seen', data: null }]],
  ])('are shown where they were, %s', (_where, parts) => {
    expect(shown(parts)).toEqual(parts);
  });

  it('are no content', () => {
    const { row } = accept([text('a'), place]);
    expect(row).toMatchObject({ parts: [text('a')] });
    expect(isSameContent(accept([text('a')]), row)).toBe(true);
    expect(() => accept([place])).toThrow('A user message needs text or a file.');
  });

  it('are left out without data, and with an id that is no text', () => {
    const odd = [{ type: 'data-a' }, { type: 'data-b', id: 5, data: 1 }, { type: 'card', data: 1 }];
    expect(shown([text('a'), ...odd])).toEqual([text('a')]);
  });

  it('count towards the size of their message', () => {
    const half = 'x'.repeat(LIMITS.userMessageBytes / 2);
    expect(() => accept([text(half), { type: 'data-a', data: half }])).toThrow('too large');
  });
});

it('a message that was refused does not block the next one', () => {
  const large = text('x'.repeat(LIMITS.userMessageBytes));
  const file = { type: 'file', url: 'https://evil.test/a.png', mediaType: 'image/png' };
  const posted = [[text('')], [place], [], [large], [file], [text('a')], [text('b')]].map(
    (parts, at): PostedMessage => ({ id: `u${String(at)}`, role: 'user', parts }),
  );
  const plain: PostedMessage = { id: 'u7', role: 'user', content: 'c' };
  expect(toUserMessages([...posted, plain]).map(({ id }) => id)).toEqual(['u5', 'u6', 'u7']);
  expect(() => toUserMessages(posted.slice(0, 3))).toThrow('needs text or a file');
  expect(() => toUserMessages(posted.slice(0, 4))).toThrow('too large');
  // The next visible message was written with this one.
  const metadata = { hidden: true };
  const hidden: PostedMessage = { id: 'h', role: 'user', parts: [large], metadata };
  expect(() => toUserMessages([hidden, plain])).toThrow('too large');
});

it('a waiting message with another text is an edit, which no page with the old text undoes', () => {
  const { row } = withText(accept([text('a')]), 'b');
  expect(row).toMatchObject({ parts: [text('b')], edited: true });
});

it('a message whose file is gone is refused, and does not block the next one', async () => {
  const { store } = createMemoryStores();
  const url = formatFileUrl({ sessionId: 's', fileId: randomUUID() });
  const posted = [[{ type: 'file', url, mediaType: 'image/png' }], [text('a')]].map(
    (parts, at): PostedMessage => ({ id: `u${String(at)}`, role: 'user', parts }),
  );
  const messages = toUserMessages(posted, { sessionId: 's' });
  const keep = (list: typeof messages) => requireFiles(store, { userId: 'ann' }, 's', list);
  expect(await keep(messages)).toEqual(messages.slice(1));
  await expect(keep(messages.slice(0, 1))).rejects.toThrow('not there any more');
  const agent = 'a';
  await store.runs.begin({ sessionId: 's', agent, owner: 'ann', nonce: 'n', messages, now: 1 });
  expect(await keep(messages)).toEqual(messages);
});

it.each([
  ['https://files.test/a.png', true],
  ['https://evilfiles.test/a.png', false],
  ['https://files.test.evil.test/a.png', false],
  ['https://files.test:8443/a.png', false],
  ['http://files.test/a.png', false],
  ['https://evil.test/?files.test', false],
  ['data:image/png;base64,AA==', true],
])('a file is taken from the hosts that are listed, and no others: %s', (url, isTaken) => {
  const parts = [{ type: 'file', url, mediaType: 'image/png' }];
  const take = () =>
    toUserMessages([{ id: 'u1', role: 'user', parts }], { allowedFileHosts: ['files.test'] });
  if (isTaken) expect(take()).toHaveLength(1);
  else expect(take).toThrow('from hosts that this server allows');
});

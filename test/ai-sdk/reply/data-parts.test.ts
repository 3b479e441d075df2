import { randomUUID } from 'node:crypto';
import { convertToUIMessages } from '../../../ai-sdk/parts/convert-messages.js';
import { toQueue } from '../../../ai-sdk/reply/queue.js';
import {
  isSameContent,
  requireFiles,
  toShownMessages,
  toUserMessages,
  withFiles,
  withText,
} from '../../../ai-sdk/reply/user-messages.js';
import { HelixError } from '../../../protocol/errors.js';
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

const large = text('x'.repeat(LIMITS.userMessageBytes));
const asPosted = (parts: Parts, at: number): PostedMessage => ({
  id: `u${String(at)}`,
  role: 'user',
  parts,
});
const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id).join(' ');

describe('a refused message', () => {
  const file = { type: 'file', url: 'https://evil.test/a.png', mediaType: 'image/png' };

  it('that a page still shows does not block the next one', async () => {
    const refused: Parts[] = [[text('')], [place], [], [large], [file]];
    const posted = [...refused, [text('a')], [text('b')]].map(asPosted);
    const plain: PostedMessage = { id: 'u7', role: 'user', content: 'c' };
    expect(idsOf(await toShownMessages([...posted, plain]))).toBe('u5 u6 u7');
  });

  // Ids: those of hidden messages begin with h, those of messages that are too large end with L.
  it.each([
    ['is the last', 'a bL', /too large/],
    ['is passed over with the hidden one before it', 'h aL b', /^b$/],
    ['is hidden and passed over with the next visible one', 'hL h a b', /^b$/],
    ['is hidden and belongs to the last', 'a hL b', /too large/],
    ['is followed by a hidden one only', 'aL h', /^h$/],
    ['is hidden and belongs to the edited one', 'hL edited b', /too large/],
    ['lies between two with one id', 'a bL a', /Two messages have the id "a"/],
  ])('that %s: %s', async (_which, ids, expected) => {
    const posted = ids.split(' ').map((id): PostedMessage => {
      const parts = [id.endsWith('L') ? large : text(id)];
      return { id, role: 'user', parts, metadata: { hidden: id.startsWith('h') } };
    });
    const shown = toShownMessages(posted, { editedId: 'edited' });
    expect(await shown.then(idsOf, String)).toMatch(expected);
  });

  it('of a program refuses the request, unless it says nothing', () => {
    const posted = [[text('')], [text('a')], [large], [text('b')]].map(asPosted);
    expect(idsOf(toUserMessages(posted.slice(0, 2)))).toBe('u1');
    expect(() => toUserMessages(posted)).toThrow('too large');
  });

  it('is no other failure', async () => {
    const broken = { id: 'u0', role: 'user', parts: null } as unknown as PostedMessage;
    const shown = toShownMessages([broken, asPosted([text('a')], 1)]);
    await expect(shown).rejects.toThrow(TypeError);
  });
});

it('a waiting message with another text is an edit, which no page with the old text undoes', () => {
  const { row } = withText(accept([text('a')]), 'b');
  expect(row).toMatchObject({ parts: [text('b')], edited: true });
});

it('a message whose file is gone is refused, and does not block the next one', async () => {
  const { store } = createMemoryStores();
  const url = formatFileUrl({ sessionId: 's', fileId: randomUUID() });
  const file = { type: 'file', url, mediaType: 'image/png' };
  const hidden = { ...asPosted([text('h')], 0), metadata: { hidden: true } };
  const posted = [hidden, asPosted([file], 1), asPosted([text('a')], 2)];
  const messages = toUserMessages(posted, { sessionId: 's' });
  const own = [store, { userId: 'ann' }, 's'] as const;
  expect(await withFiles(...own, { messages })).toEqual(messages.slice(2));
  const isRefused = 'not there any more';
  const alone = { messages: messages.slice(0, 2) };
  await expect(withFiles(...own, alone)).rejects.toThrow(isRefused);
  await expect(withFiles(...own, { messages, messageId: 'u1' })).rejects.toThrow(isRefused);
  await expect(requireFiles(...own, messages)).rejects.toThrow(isRefused);
  const read = () => Promise.reject(new HelixError('unavailable', 'away'));
  const away = { ...store, files: { ...store.files, read } };
  await expect(withFiles(away, own[1], 's', { messages })).rejects.toThrow('away');
  const agent = 'a';
  await store.runs.begin({ sessionId: 's', agent, owner: 'ann', nonce: 'n', messages, now: 1 });
  expect(await withFiles(...own, { messages })).toEqual(messages);
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

it("a message names only files of its conversation, and none of another person's", async () => {
  const { store } = createMemoryStores();
  const fileId = randomUUID();
  const add = { id: fileId, mediaType: 'image/png', sha256: '', at: 1 };
  const limits = { files: 1, bytes: 9 };
  const content = new Uint8Array(1);
  await store.files.add({ sessionId: 's', owner: 'bob', file: add, content, limits });
  const url = formatFileUrl({ sessionId: 's', fileId });
  const posted = [asPosted([{ type: 'file', url, mediaType: 'image/png' }], 1)];
  expect(() => toUserMessages(posted, { sessionId: 'other' })).toThrow();
  const messages = toUserMessages(posted, { sessionId: 's' });
  await requireFiles(store, { userId: 'bob' }, 's', messages);
  await expect(requireFiles(store, { userId: 'ann' }, 's', messages)).rejects.toThrow('not there');
});

it('the queue that a page sees does not name who asked', () => {
  const entry = { messages: [accept([text('a')])], askers: [{ userId: 'ann' }], mode: 'queue' };
  const [shown] = toQueue([entry as never]);
  expect(Object.keys(shown ?? {}).sort()).toEqual(['messages', 'mode']);
});

import { readPromptFiles } from '../../activities/model/prompt-files.js';
import { toMessages } from '../../activities/model/prompt.js';
import { formatFileUrl } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantPart, Row } from '../../protocol/rows.js';
import { withTimeout } from '../../protocol/time.js';
import type { Files } from '../../store/contract/files.js';

const url = 'https://files.example/a.png';
const rows: Row[] = [
  { role: 'user', id: 'u', parts: [{ type: 'file', url, mediaType: 'image/png', filename: 'a' }] },
];
const { signal } = new AbortController();
const fetching = (supported: Record<string, RegExp[]>, fetch = async () => Buffer.from('hi')) => ({
  supported,
  fetch,
});

describe('a file of another host', () => {
  it('is given as bytes to a model that cannot fetch it', async () => {
    const found = await readPromptFiles(undefined, 's1', rows, signal, fetching({}));
    const data = { type: 'data', data: 'aGk=' };
    expect(found.get(url)).toEqual({ type: 'file', mediaType: 'image/png', filename: 'a', data });
  });

  it.each<Record<string, RegExp[]>>([{ 'image/*': [/^https:/] }, { '*/*': [/./] }])(
    'is left to a model that can: %j',
    async (supported) => {
      expect((await readPromptFiles(undefined, 's1', rows, signal, fetching(supported))).size).toBe(
        0,
      );
    },
  );

  it('that cannot be fetched is named as missing', async () => {
    const away = () => Promise.reject(new Error('no'));
    const found = await readPromptFiles(undefined, 's1', rows, signal, fetching({}, away));
    expect(found.get(url)).toMatchObject({ text: '[The file "a" cannot be fetched.]' });
    // A step that is cut asks its model nothing.
    const cut = readPromptFiles(
      undefined,
      's1',
      rows,
      AbortSignal.abort(new Error('cut')),
      fetching({}, away),
    );
    await expect(cut).rejects.toThrow('cut');
  });
});

const replyOf = (part: AssistantPart): Row[] => [
  { role: 'assistant', messageId: 'msg-1', runId: 's1:1-a', step: 1, parts: [part] },
];

it('a file of a reply that its provider keeps is not fetched', async () => {
  const reply = replyOf({ type: 'file', url, mediaType: 'image/png' });
  expect((await readPromptFiles(undefined, 's1', reply, signal, fetching({}))).size).toBe(0);
});

it.each(['file', 'reasoning-file'] as const)('a stored %s of a reply is read', async (type) => {
  const mediaType = 'image/png';
  const stored = formatFileUrl({ sessionId: 's1', fileId: '4f9c2f58-0a53-4c3e-8a68-2f1f6c1f9a01' });
  const files = {
    read: (_: string, id: string) => Promise.resolve({ id, mediaType, bytes: 2 }),
    content: () => Promise.resolve(Buffer.from('hi')),
  } as unknown as Files;
  const made = { url: stored, mediaType };
  const reply = replyOf(
    type === 'file'
      ? { type, ...made }
      : { type: 'reasoning', text: '', stands: { type, ...made } },
  );
  const found = await readPromptFiles(files, 's1', reply, signal);
  expect(found.get(stored)).toMatchObject({ type: 'file', data: { data: 'aGk=' } });
});

it.each(['read', 'content'] as const)(
  'a store that never answers to %s fails the attempt in time',
  async (verb) => {
    const url = formatFileUrl({ sessionId: 's1', fileId: '4f9c2f58-0a53-4c3e-8a68-2f1f6c1f9a01' });
    const reply = replyOf({ type: 'file', url, mediaType: 'image/png' });
    const files = {
      read: () => Promise.resolve({ id: 'f', mediaType: 'image/png', bytes: 2 }),
      [verb]: () => new Promise(() => undefined),
    } as unknown as Files;
    const found = readPromptFiles(files, 's1', reply, AbortSignal.timeout(50));
    await expect(withTimeout(1_000, found)).rejects.toMatchObject({
      failure: { code: 'files_unavailable' },
    });
  },
);

it('only the newest files that fit one model call are fetched', async () => {
  const older = {
    ...rows[0],
    parts: [{ type: 'file', url: `${url}?old`, mediaType: 'image/png' }],
  };
  const large = async () => Promise.resolve(Buffer.alloc(LIMITS.promptFileBytes));
  const all = [older as Row, ...rows];
  const found = await readPromptFiles(undefined, 's1', all, signal, fetching({}, large));
  expect([found.get(url)?.type, found.get(`${url}?old`)?.type]).toEqual(['file', 'text']);
});

it.each([
  ['text/csv', 'data:text/csv;base64,YSxi', '[File "a"]\na,b'],
  ['text/csv', 'data:text/csv,a%2Cb', '[File "a"]\na,b'],
  ['application/json', 'data:,%', '[File "a"]\n%'],
])(
  'a file of the type %s that is part of its message is given as text, as one that was uploaded: %s',
  (mediaType, address, text) => {
    const file = { type: 'file' as const, url: address, mediaType, filename: 'a' };
    const [message] = toMessages([{ role: 'user', id: 'u', parts: [file] }]).messages;
    expect(message?.content).toMatchObject([{ type: 'text', text }]);
  },
);

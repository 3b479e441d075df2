import { readPromptFiles } from '../../activities/model/prompt-files.js';
import { toMessages } from '../../activities/model/prompt.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';

const url = 'https://files.example/a.png';
const rows: Row[] = [
  { role: 'user', id: 'u', parts: [{ type: 'file', url, mediaType: 'image/png', filename: 'a' }] },
];
const { signal } = new AbortController();
const fetching = (supported: Record<string, RegExp[]>, fetch = async () => Buffer.from('hi')) => ({
  supported,
  fetch,
  signal,
});

describe('a file of another host', () => {
  it('is given as bytes to a model that cannot fetch it', async () => {
    const found = await readPromptFiles(undefined, 's1', rows, fetching({}));
    const data = { type: 'data', data: 'aGk=' };
    expect(found.get(url)).toEqual({ type: 'file', mediaType: 'image/png', filename: 'a', data });
  });

  it.each<Record<string, RegExp[]>>([{ 'image/*': [/^https:/] }, { '*/*': [/./] }])(
    'is left to a model that can: %j',
    async (supported) => {
      expect((await readPromptFiles(undefined, 's1', rows, fetching(supported))).size).toBe(0);
    },
  );

  it('that cannot be fetched is named as missing', async () => {
    const away = () => Promise.reject(new Error('no'));
    const found = await readPromptFiles(undefined, 's1', rows, fetching({}, away));
    expect(found.get(url)).toMatchObject({ text: '[The file "a" cannot be fetched.]' });
  });
});

it('only the newest files that fit one model call are fetched', async () => {
  const older = {
    ...rows[0],
    parts: [{ type: 'file', url: `${url}?old`, mediaType: 'image/png' }],
  };
  const large = async () => Promise.resolve(Buffer.alloc(LIMITS.promptFileBytes));
  const all = [older as Row, ...rows];
  const found = await readPromptFiles(undefined, 's1', all, fetching({}, large));
  expect([...found.values()].map(({ type }) => type)).toEqual(['file', 'text']);
});

describe('a file that is part of its message', () => {
  it.each([
    ['text/csv', 'data:text/csv;base64,YSxi', '[File "a"]\na,b'],
    ['text/csv', 'data:text/csv,a%2Cb', '[File "a"]\na,b'],
    ['application/json', 'data:,%', '[File "a"]\n%'],
  ])(
    'of the type %s is given as text, as one that was uploaded: %s',
    (mediaType, address, text) => {
      const file = { type: 'file' as const, url: address, mediaType, filename: 'a' };
      const [message] = toMessages([{ role: 'user', id: 'u', parts: [file] }]).messages;
      expect(message?.content).toMatchObject([{ type: 'text', text }]);
    },
  );
});

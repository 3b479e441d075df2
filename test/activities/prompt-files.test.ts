import { readPromptFiles } from '../../activities/model/prompt-files.js';
import type { Row } from '../../protocol/rows.js';

const url = 'https://files.example/a.png';
const rows: Row[] = [
  { role: 'user', id: 'u', parts: [{ type: 'file', url, mediaType: 'image/png', filename: 'a' }] },
];
const { signal } = new AbortController();
const fetching = (supported: Record<string, RegExp[]>, fetch = async () => Buffer.from('hi')) => ({
  ...{ supported, fetch, signal },
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

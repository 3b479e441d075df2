import { Redis } from 'ioredis';
import type { StreamChunk } from '../../../protocol/chunk.js';
import type { KeptPage } from '../../../store/contract/log.js';
import { createRedisStores } from '../../../store/redis/index.js';
import { createKeySpace } from '../../../store/redis/keys.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { eventually } from '../../../store/conformance/assertions.js';
import { openSpeaker, type Speaker } from '../../support/speaker.js';
import { sharedRedisUrl } from '../../support/test-stores.js';

const prefix = 'kept-pages';
const url = sharedRedisUrl();
const redis = new Redis(url);
const stores = createRedisStores({ url, whenAway: 'wait', prefix });
const keys = createKeySpace(prefix);

afterAll(async () => {
  redis.disconnect();
  await stores.close();
});

function words({ session }: Speaker, length: number, text = 'word '): StreamChunk[] {
  return Array.from({ length }, () => textChunk(text, 1, session.id));
}

/** Opens a step with 500 entries and the page that holds them. */
async function openWithPage(): Promise<Speaker> {
  const author = await openSpeaker(stores);
  await stores.streamManager.append(author.writer, 1, words(author, 500));
  await eventually('a page is kept', async () => (await kept(author)).length === 1);
  return author;
}

async function kept({ session }: Speaker): Promise<KeptPage[]> {
  return stores.streamManager.keptPages(session.id, 0);
}

describe('a kept page', () => {
  it.each([
    ['first', '1-0'],
    ['last', '500-0'],
  ])('is not taken once its %s entry was withdrawn', async (_, id) => {
    const author = await openWithPage();
    await redis.xdel(keys.session(author.session.id).stream, id);
    expect(await kept(author)).toEqual([]);
  });

  it('that cannot be read, or begins before the end of another, is passed over', async () => {
    const author = await openWithPage();
    const { joined } = keys.session(author.session.id);
    await redis.xadd(joined, '501-0', 'from', '501', 'entries', '[[');
    await redis.xadd(joined, '501-1', 'from', '501', 'entries', 'null');
    await redis.xadd(joined, '502-0', 'from', '500', 'entries', '[]');
    await redis.xadd(keys.session(author.session.id).stream, '502-0', 'w', 'x');
    expect(await kept(author)).toHaveLength(1);
  });

  it('is none where joining saves too little, or the words are too long', async () => {
    const author = await openSpeaker(stores);
    const { streamManager } = stores;
    const word = textChunk('word ', 1, author.session.id);
    const { delta: _, ...base } = word;
    const note: StreamChunk = { ...base, type: 'custom', eventName: 'n', data: 1 };
    const mixed = Array.from({ length: 500 }, (_, n) => (n % 5 === 0 ? note : word));
    const append = (batch: number, chunks: StreamChunk[]) =>
      streamManager.append(author.writer, batch, chunks);
    await append(1, mixed);
    await append(2, words(author, 500, 'x'.repeat(600)));
    await append(3, words(author, 500));
    await eventually('the last page is kept', async () => (await kept(author)).length > 0);
    expect(await kept(author)).toMatchObject([{ from: 1_001, to: 1_500 }]);
  });
});

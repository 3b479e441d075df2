import { Redis } from 'ioredis';
import type { KeptPage } from '../../../stores/contract/log.js';
import { createRedisStores } from '../../../stores/redis/index.js';
import { createKeySpace } from '../../../stores/redis/keys.js';
import { PageCollector } from '../../../stores/redis/tail/page-collector.js';
import { textChunk } from '../../../stores/conformance/fixtures.js';
import { eventually } from '../../../stores/conformance/assertions.js';
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

/** A step with 500 entries, and the page that has them. */
async function openWithPage(): Promise<Speaker> {
  const speaker = await openSpeaker(stores);
  const { session, writer } = speaker;
  const chunks = Array.from({ length: 500 }, () => ({
    ...textChunk('word ', 1, session.id),
    timestamp: 1_763_841_234_567,
  }));
  await stores.streamManager.append(writer, 1, chunks);
  await eventually('a page is kept', async () => (await kept(speaker)).length === 1);
  return speaker;
}

async function kept({ session }: Speaker): Promise<KeptPage[]> {
  return (await stores.streamManager.keptPages?.(session.id, 0)) ?? [];
}

describe('a kept page', () => {
  it.each([
    ['first', '1-0'],
    ['last', '500-0'],
  ])('is not taken once its %s entry was withdrawn', async (_, id) => {
    const speaker = await openWithPage();
    await redis.xdel(keys.session(speaker.session.id).stream, id);
    expect(await kept(speaker)).toEqual([]);
  });

  it('that cannot be read is passed over', async () => {
    const speaker = await openWithPage();
    const { joined } = keys.session(speaker.session.id);
    await redis.xadd(joined, '501-0', 'from', '501', 'entries', '[[');
    expect(await kept(speaker)).toHaveLength(1);
  });

  it('of an attempt that was fenced off is not kept', async () => {
    const speaker = await openWithPage();
    const { session, runId } = speaker;
    await session.claim(session.writer(runId, 1, 2));
    expect(await redis.exists(keys.session(session.id).joined)).toBe(0);
    const chunks = Array.from({ length: 500 }, () => textChunk('late ', 1, session.id));
    const result = await stores.streamManager.append(speaker.writer, 2, chunks);
    expect(result).toEqual({ kind: 'fenced' });
    expect(await kept(speaker)).toEqual([]);
  });
});

describe('what is collected for a page', () => {
  const delta = (text: string): string => `["${text}","lab",1,1763841234567]`;
  const deltas = (count: number): string[] => Array.from({ length: count }, () => delta('x'));

  it('begins a new page behind the entries of others', () => {
    const collector = new PageCollector('m1');
    expect(collector.add(deltas(499), 499)).toBeUndefined();
    expect(collector.add(deltas(1), 501)).toBeUndefined();
    expect(collector.add(deltas(499), 1_000)).toMatchObject({ from: 501, to: 1_000 });
  });

  it('is no page if joining saves too little', () => {
    const collector = new PageCollector('m1');
    const events = Array.from({ length: 500 }, () => '{"type":"custom"}');
    expect(collector.add(events, 500)).toBeUndefined();
    expect(collector.add(deltas(500), 1_000)).toMatchObject({ from: 501, to: 1_000 });
  });

  it('becomes a page before it is long', () => {
    const collector = new PageCollector('m1');
    const long = Array.from({ length: 40 }, () => delta('y'.repeat(4_000)));
    expect(collector.add(long, 40)).toMatchObject({ from: 1, to: 40 });
  });
});

import { toStream } from '../../../ai-sdk/client/connections.js';
import { toPatience } from '../../../ai-sdk/client/patience.js';
import { followSessionEvents } from '../../../ai-sdk/react/use-session-events.js';

const eventOf = (sequence: number): Response =>
  new Response(`id: ${String(sequence)}\ndata: {"sequence":${String(sequence)}}\n\n`);
const gone = (): Response => Response.json({ code: 'not_found' }, { status: 404 });

async function follow(...replies: Response[]): Promise<number[]> {
  const send = (): Promise<Response> => Promise.resolve(replies.shift() ?? gone());
  const patience = toPatience({ retryDelayMs: () => 0 });
  const seen: number[] = [];
  const { signal } = new AbortController();
  for await (const { sequence } of followSessionEvents('/events', send, patience, signal)) {
    seen.push(sequence);
  }
  return seen;
}

it('events that end are followed again, until the conversation does not exist any more', async () => {
  expect(await follow(eventOf(1), eventOf(2))).toEqual([1, 2]);
});

it('a reply without a body, as of a proxy, ends what follows it', async () => {
  const nothing = new Response(null, { status: 204 });
  expect(await follow(eventOf(1), nothing, eventOf(2))).toEqual([1]);
});

it('a conversation that does not exist from the beginning is an error', async () => {
  await expect(follow(gone())).rejects.toMatchObject({ statusCode: 404 });
});

it('a stream of parts is read on when nothing was made of what arrived', async () => {
  const stream = toStream(() => batches([], [1], [], [], [2, 3], []));
  const parts: number[] = [];
  for await (const part of stream) parts.push(part);
  expect(parts).toEqual([1, 2, 3]);
});

it('a stream whose connection cannot be made again ends as unreachable', async () => {
  const broken = async function* (): AsyncGenerator<number[], void, undefined> {
    yield await Promise.resolve([1]);
    throw new TypeError('network error');
  };
  const read = async (): Promise<void> => {
    for await (const _ of toStream(broken));
  };
  await expect(read()).rejects.toMatchObject({ name: 'ReplyBrokenError', reason: 'unreachable' });
});

async function* batches(...all: number[][]): AsyncGenerator<number[], void, undefined> {
  for (const batch of all) yield await Promise.resolve(batch);
}

import type { UIMessage } from '../../ai-sdk/index.js';
import { createChatFetch, parseFrames, readStored } from '../support/chat-fetch.js';
import { createFakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';
import { createStockChat, MAJORS, untilReady } from '../support/stock-chat.js';
import { until } from '../support/until.js';
import { checkCommonKeys } from './common-keys.js';
import { failures, giveAnswer, scenarios } from './scenarios.js';

describe.each(MAJORS)('%s: live equals stored', (_name, library) => {
  it.each(scenarios)('$name', async ({ play, answers }) => {
    const runtime = createFakeRuntime(play);
    const { fetch, texts } = createChatFetch(runtime);
    const chat = createStockChat(library, { id: 's1', fetch, isAutomatic: true });
    await chat.sendMessage({ text: 'go' });
    await untilReady(chat);
    for (const answer of answers) {
      // What a reload shows in this moment is what the page has, but for answers it holds back
      // until the batch is complete.
      if (!JSON.stringify(chat.messages).includes('approval-responded')) {
        expect(chat.messages).toEqual(await readStored(runtime, 's1'));
      }
      await giveAnswer(chat, answer);
    }
    expect(chat.error).toBeUndefined();
    expect(chat.status).toBe('ready');
    const stored = await readStored(runtime, 's1');
    expect(chat.messages).toEqual(stored);
    await library.validateUIMessages({ messages: stored });
    // One POST for the message, one for the last answer of each batch: no loop.
    const pauses = runtime.sessions
      .get('s1')
      ?.entries.filter(({ message }) => message.type === 'run_paused').length;
    expect(chat.requests).toHaveLength(1 + (pauses ?? 0));
    const schema = library.uiMessageChunkSchema();
    for (const { part } of texts.flatMap(parseFrames)) {
      checkCommonKeys(part);
      expect(await schema.validate?.(part)).toMatchObject({ success: true });
    }
  });

  it.each(failures)('a turn that fails $name', async ({ play }) => {
    const runtime = createFakeRuntime(play);
    const { fetch } = createChatFetch(runtime);
    const chat = createStockChat(library, { id: 's1', fetch, isAutomatic: true });
    await chat.sendMessage({ text: 'go' });
    await untilReady(chat);
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toBe('The model provider failed.');
    expect(chat.requests).toEqual(['POST']);
    expect(chat.messages).toEqual(await readStored(runtime, 's1'));
  });
});

const [, newest] = MAJORS[1];
const V7 = { 'x-ai-sdk-profile': 'v7' };

describe.each([
  ...MAJORS.map(([name, library]) => ({ name, library, headers: {} })),
  { name: 'the v7 profile', library: newest, headers: V7 },
])('$name', ({ library, headers }) => {
  it.each(scenarios)('replay of: $name', async ({ play, answers }) => {
    const runtime = createFakeRuntime(play);
    await runTurn(runtime, answers);
    const session = runtime.sessions.get('s1');
    const stored = await readStored(runtime, 's1');
    // As after a snapshot that was taken while the turn was active.
    if (session !== undefined) session.record.activeSnapshotTurn = 1;
    const { fetch } = createChatFetch(runtime, { headers });
    const messages = stored.filter(({ role }) => role === 'user');
    const chat = createStockChat(library, { id: 's1', fetch, messages });
    await chat.resumeStream();
    await untilReady(chat);
    expect(chat.error).toBeUndefined();
    // Only the v7 profile knows the parts with answers: a replay for others leaves answered requests out.
    expect(chat.messages).toEqual(headers === V7 ? stored : stored.map(withoutApprovals));
    expect(chat.requests).toEqual(['GET']);
  });
});

it('a client of the v7 profile sees a dead attempt withdrawn, and keeps its connection', async () => {
  const texts: string[] = [];
  const runtime = createFakeRuntime(async (session) => {
    session.step();
    session.think('hm');
    session.say('Half a sen');
    await until('the half sentence arrives', () => texts[0]?.includes('Half a sen'));
    session.discard();
    session.step();
    session.say('Something else.');
    session.commit();
    session.end();
  });
  const { fetch } = createChatFetch(runtime, { headers: V7, texts });
  const chat = createStockChat(newest, { id: 's1', fetch, isAutomatic: true });
  await chat.sendMessage({ text: 'go' });
  await untilReady(chat);
  expect(texts[0]).toContain('"reset-step"');
  expect(chat.seen).toContain('data-step-discarded');
  expect(chat.messages).toEqual(await readStored(runtime, 's1'));
});

async function runTurn(runtime: FakeRuntime, answers: (boolean | string)[]): Promise<void> {
  const [, library] = MAJORS[0];
  const { fetch } = createChatFetch(runtime);
  const chat = createStockChat(library, { id: 's1', fetch, isAutomatic: true });
  await chat.sendMessage({ text: 'go' });
  await untilReady(chat);
  for (const answer of answers) await giveAnswer(chat, answer);
}

function withoutApprovals({ parts, ...message }: UIMessage): object {
  return {
    ...message,
    parts: parts.map((part) =>
      Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'approval')),
    ),
  };
}

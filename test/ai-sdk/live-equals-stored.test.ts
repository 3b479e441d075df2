import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from '../../ai-sdk/index.js';
import { createChatFetch, parseFrames, readStored } from '../support/chat-fetch.js';
import { createFakeRuntime, type FakeRuntime, type Play } from '../support/fake-runtime.js';
import { createStockChat, MAJORS, untilReady, type StockChat } from '../support/stock-chat.js';
import { checkCommonKeys } from './common-keys.js';

interface Scenario {
  name: string;
  play: Play;
  /** Answers to approvals, in order of asking: true, false, or false with a reason. */
  answers?: (boolean | string)[];
}

const scenarios: Scenario[] = [
  {
    name: 'text in one step',
    play: async (session) => {
      session.step();
      session.say('Hello ', 'world', '');
      session.commit();
      session.end();
    },
  },
  {
    name: 'reasoning, text, streamed arguments and text after a tool',
    play: async (session) => {
      session.step();
      session.think('first ', 'thought');
      session.think('second thought');
      session.say('Looking ', 'it up.');
      session.model(
        { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' },
        { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{"value"' },
        { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: ':1}' },
      );
      session.say('One moment.');
      session.commit([{ id: 'c1', name: 'echo', input: { value: 1 } }]);
      session.settle('c1', { output: { value: 1 } });
      session.step();
      session.say('Done.');
      session.commit();
      session.end();
    },
  },
  {
    name: 'parallel tools, one fails, one has no output, one is invalid',
    play: async (session) => {
      session.step();
      session.model(
        { type: 'tool_arg_stream_start', toolCallId: 'c3', toolName: 'echo' },
        { type: 'tool_arg_stream_delta', toolCallId: 'c3', delta: '{bro' },
      );
      session.commit([
        { id: 'c1', name: 'echo' },
        { id: 'c2', name: 'boom' },
        { id: 'c3', name: 'echo', invalid: 'Invalid input', input: {} },
        { id: 'c4', name: 'nope', invalid: 'There is no tool', input: { a: 1 } },
      ]);
      session.settle('c2', { error: 'it broke', errorCode: 'tool_execution_failed' });
      session.settle('c1', { output: undefined });
      session.step();
      session.say('So be it.');
      session.commit();
      session.end();
    },
  },
  {
    name: 'an approved call',
    answers: [true],
    play: async (session, _said, answers) => {
      session.step();
      session.say('May I?');
      session.commit([{ id: 'c1', name: 'charge', kind: 'approval', input: { amount: 5 } }]);
      await answers();
      session.settle('c1', { output: { charged: 5 } });
      session.step();
      session.say('Charged.');
      session.commit();
      session.end();
    },
  },
  {
    name: 'a denied call beside a server tool',
    answers: ['too much'],
    play: async (session, _said, answers) => {
      session.step();
      session.commit([
        { id: 'c1', name: 'echo', input: { value: 1 } },
        { id: 'c2', name: 'charge', kind: 'approval', input: { amount: 5 } },
      ]);
      session.settle('c1', { output: { value: 1 } });
      await answers();
      session.step();
      session.say('Not charged.');
      session.commit();
      session.end();
    },
  },
  {
    name: 'two approvals in one step, then one more, one of them fails',
    answers: [true, false, true],
    play: async (session, _said, answers) => {
      session.step();
      session.commit([
        { id: 'c1', name: 'charge', kind: 'approval', input: { amount: 1 } },
        { id: 'c2', name: 'charge', kind: 'approval', input: { amount: 2 } },
      ]);
      await answers();
      session.settle('c1', { error: 'card refused', errorCode: 'tool_execution_failed' });
      session.step();
      session.say('Another one.');
      session.commit([{ id: 'c3', name: 'charge', kind: 'approval', input: { amount: 3 } }]);
      await answers();
      session.settle('c3', { output: { charged: 3 } });
      session.step();
      session.say('All done.');
      session.commit();
      session.end();
    },
  },
  {
    name: 'an end right behind a tool',
    play: async (session) => {
      session.step();
      session.commit([{ id: 'c1', name: 'echo', input: { value: 1 } }]);
      session.settle('c1', { output: { value: 1 } });
      session.end();
    },
  },
  {
    name: 'a stop before the model said anything',
    play: async (session) => {
      session.end('interrupted');
    },
  },
  {
    name: 'a stop while the model thinks after an approved call',
    answers: [true],
    play: async (session, _said, answers) => {
      session.step();
      session.commit([{ id: 'c1', name: 'charge', kind: 'approval', input: { amount: 1 } }]);
      await answers();
      session.settle('c1', { output: { charged: 1 } });
      session.end('interrupted');
    },
  },
  {
    name: 'a stop in the middle of text',
    play: async (session) => {
      session.step();
      session.think('hm');
      session.say('Half a sen');
      session.commit([], 'interrupt');
      session.end('interrupted');
    },
  },
  {
    name: 'a stop that overtakes streamed arguments',
    play: async (session) => {
      session.step();
      session.say('Wait');
      session.model(
        { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' },
        { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{"value":' },
      );
      session.commit([{ id: 'c1', name: 'echo', invalid: 'The run was stopped.' }], 'interrupt');
      session.end('interrupted');
    },
  },
  {
    name: 'a silent reply',
    play: async (session) => {
      session.step();
      session.commit();
      session.end();
    },
  },
];

describe.each(MAJORS)('%s: live equals stored', (_name, library) => {
  it.each(scenarios)('$name', async ({ play, answers = [] }) => {
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
    expect(chat.messages).toEqual(await readStored(runtime, 's1'));
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

  it.each(scenarios)('replay of: $name', async ({ play, answers = [] }) => {
    const runtime = createFakeRuntime(play);
    await runTurn(runtime, answers);
    const session = runtime.sessions.get('s1');
    if (session === undefined) throw new Error('no session');
    // As after a snapshot that was taken while the turn was at work.
    session.record.activeSnapshotTurn = 1;
    const { fetch } = createChatFetch(runtime);
    const stored = await readStored(runtime, 's1');
    const chat = createStockChat(library, {
      id: 's1',
      fetch,
      messages: stored.filter(({ role }) => role === 'user'),
    });
    await chat.resumeStream();
    await untilReady(chat);
    expect(chat.error).toBeUndefined();
    // Answered requests are left out of a replay, so the answer is known from history only.
    expect(chat.messages).toEqual(stored.map(withoutApprovals));
    expect(chat.requests).toEqual(['GET']);
  });
});

async function runTurn(runtime: FakeRuntime, answers: (boolean | string)[]): Promise<void> {
  const [, library] = MAJORS[0];
  const { fetch } = createChatFetch(runtime);
  const chat = createStockChat(library, { id: 's1', fetch, isAutomatic: true });
  await chat.sendMessage({ text: 'go' });
  await untilReady(chat);
  for (const answer of answers) await giveAnswer(chat, answer);
}

/** Answers the first approval that the page shows, and lets the page do what it does then. */
async function giveAnswer(chat: StockChat, answer: boolean | string): Promise<void> {
  const asked = chat.messages
    .flatMap(({ parts }) => parts)
    .find((part) => 'state' in part && part.state === 'approval-requested');
  const id = asked !== undefined && 'approval' in asked ? asked.approval?.id : undefined;
  if (id === undefined) throw new Error('the page shows no approval');
  const reason = typeof answer === 'string' ? { reason: answer } : {};
  await chat.addToolApprovalResponse({ id, approved: answer === true, ...reason });
  await untilReady(chat);
}

function withoutApprovals({ parts, ...message }: UIMessage): object {
  return {
    ...message,
    parts: parts.map((part) =>
      Object.fromEntries(Object.entries(part).filter(([key]) => key !== 'approval')),
    ),
  };
}

import type { ChatTransport, UIMessage as LibraryMessage } from 'ai';
import fc from 'fast-check';
import type { UIMessage } from '../../../ai-sdk/index.js';
import {
  createHelixSendAutomaticallyWhen,
  createResumableChatTransport,
  ReplyBrokenError,
} from '../../../ai-sdk/client/index.js';
import { createChatFetch, readStored } from '../../support/chat-fetch.js';
import { createFakeRuntime, type Play } from '../../support/fake-runtime.js';
import { createStockChat, MAJORS, untilReady, type StockChat } from '../../support/stock-chat.js';
import { createBadLine } from '../recorded/bad-line.js';
import { giveAnswer, scenarios } from '../scenarios.js';

const quick = { retryDelayMs: () => 0, giveUpAfterMs: 2_000 };

interface Turn {
  chat: StockChat;
  stored: UIMessage[];
  texts: string[];
}

/** A turn on the transport under test, whose nth response breaks after cuts[n] bytes. */
async function playTurn(
  library: (typeof MAJORS)[number][1],
  play: Play,
  answers: readonly (boolean | string)[],
  cuts: readonly number[],
): Promise<Turn> {
  const runtime = createFakeRuntime(play);
  const { fetch, texts } = createChatFetch(runtime);
  const throughBadLine = createBadLine({ breaks: cuts, piece: Infinity });
  const chat = createStockChat(library, {
    id: 's1',
    fetch: async (url, init) => throughBadLine(await fetch(url, init)),
    transport: (send) => createTransport(send),
    sendAutomaticallyWhen: createHelixSendAutomaticallyWhen(),
    mostRequests: 30,
  });
  await chat.sendMessage({ text: 'go' });
  await untilReady(chat);
  for (const answer of answers) await giveAnswer(chat, answer);
  return { chat, texts, stored: await readStored(runtime, 's1') };
}

function createTransport(fetch: typeof globalThis.fetch): ChatTransport<LibraryMessage> {
  return createResumableChatTransport({ api: 'http://chat.test/api/chat', fetch, ...quick });
}

describe.each(MAJORS)('%s: a resumable transport', (_name, library) => {
  it.each(scenarios)(
    'a resumable transport shows the stored messages wherever the stream is cut: $name',
    async ({ play, answers }) => {
      const whole = await playTurn(library, play, answers, []);
      expect(whole.chat.error).toBeUndefined();
      expect(whole.chat.messages).toEqual(whole.stored);
      const pieces = fc.array(
        fc.nat({ max: Math.max(...whole.texts.map((text) => text.length)) }),
        {
          minLength: 1,
          maxLength: 6,
        },
      );
      await fc.assert(
        fc.asyncProperty(pieces, async (cuts) => {
          const { chat, stored } = await playTurn(library, play, answers, cuts);
          expect(chat.error).toBeUndefined();
          expect(chat.messages).toEqual(stored);
          expect(chat.messages.slice(1)).toEqual(whole.stored.slice(1));
        }),
        { numRuns: 8 },
      );
    },
  );

  it('a resumable transport shows the stored messages when it is cut within a part', async () => {
    const play: Play = (session) => {
      session.step();
      session.think('thought');
      session.say('Hello ', 'world');
      session.model(
        { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' },
        { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{}' },
      );
      session.commit([{ id: 'c1', name: 'echo' }]);
      session.settle('c1', { output: 1 });
      session.step();
      session.say('Bye.');
      session.commit();
      session.end();
      return Promise.resolve();
    };
    const whole = await playTurn(library, play, [], []);
    const length = whole.texts[0]?.length ?? 0;
    expect(length).toBeGreaterThan(500);
    for (let cut = 0; cut < length; cut += 17) {
      const { chat } = await playTurn(library, play, [], [cut]);
      const [, reply] = chat.messages;
      expect({ cut, reply }).toEqual({ cut, reply: whole.stored[1] });
    }
  });

  it('a resumable transport reports that the reply must be loaded again when part of it was withdrawn', async () => {
    let step = 0;
    const runtime = createFakeRuntime((session) => {
      session.step();
      session.say('half of a reply');
      session.model({ type: 'custom', eventName: 'note', data: 'x'.repeat(200) });
      return Promise.resolve();
    });
    const { fetch } = createChatFetch(runtime);
    const throughBadLine = createBadLine({ breaks: [250], piece: Infinity });
    const chat = createStockChat(library, {
      id: 's1',
      transport: createTransport,
      fetch: async (url, init) => {
        const session = runtime.sessions.get('s1');
        if (++step > 1 && session !== undefined) {
          session.discard();
          session.step();
          session.say('other words');
        }
        return throughBadLine(await fetch(url, init));
      },
    });
    await chat.sendMessage({ text: 'go' });
    await untilReady(chat);
    expect(JSON.stringify(chat.messages)).toContain('half of');
    expect(chat.requests).toEqual(['POST', 'GET']);
    expect(ReplyBrokenError.isInstance(chat.error) && chat.error.reason).toBe('withdrawn');
  });
});

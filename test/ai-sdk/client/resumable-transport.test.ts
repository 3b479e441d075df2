import type { ChatTransport, UIMessage as LibraryMessage } from 'ai';
import fc from 'fast-check';
import type { UIMessage } from '../../../ai-sdk/index.js';
import {
  createHelixSendAutomaticallyWhen,
  createResumableChatTransport,
} from '../../../ai-sdk/client/index.js';
import { createChatFetch, readStored } from '../../support/chat-fetch.js';
import { createStockChat, MAJORS, untilReady, type StockChat } from '../../support/stock-chat.js';
import { createBadLine } from '../recorded/bad-line.js';
import { createScripted } from '../reply/ask.js';

const call = (tool: string, id: string, args: object): object => ({ tool, id, args });

/** Asks twice in one step, and once more in the next. */
const asks = [
  {
    say: 'May I?',
    calls: [call('charge', 'c1', { amount: 1 }), call('charge', 'c2', { amount: 2 })],
  },
  { say: 'And this?', calls: [call('charge', 'c3', { amount: 3 })] },
  { say: 'Done.' },
];
const tells = [
  {
    think: 'thought',
    say: 'Hello world',
    deltas: 2,
    calls: [{ ...call('echo', 'c1', { value: 1 }), argDeltas: 3 }],
  },
  { say: 'Bye.' },
];

interface Turn {
  chat: StockChat;
  stored: UIMessage[];
  texts: string[];
}

/** A turn on the transport under test, whose nth response breaks after cuts[n] bytes. */
async function playTurn(
  library: (typeof MAJORS)[number][1],
  script: object[],
  answers: readonly boolean[],
  cuts: readonly number[],
): Promise<Turn> {
  const runtime = createScripted();
  const { fetch, texts } = createChatFetch(runtime);
  const throughBadLine = createBadLine({ breaks: cuts, piece: Infinity });
  const chat = createStockChat(library, {
    id: 's1',
    fetch: async (url, init) => throughBadLine(await fetch(url, init)),
    transport: createTransport,
    sendAutomaticallyWhen: createHelixSendAutomaticallyWhen(),
    mostRequests: 30,
  });
  await chat.sendMessage({ text: JSON.stringify({ script }) });
  await untilReady(chat);
  for (const approved of answers) {
    const part = chat.messages
      .flatMap(({ parts }) => parts)
      .find((each) => 'state' in each && each.state === 'approval-requested');
    const id = part !== undefined && 'approval' in part ? part.approval.id : '';
    await chat.addToolApprovalResponse({ id, approved });
    await untilReady(chat);
  }
  return { chat, texts, stored: await readStored(runtime, 's1') };
}

function createTransport(
  fetch: typeof globalThis.fetch,
  headers = {},
): ChatTransport<LibraryMessage> {
  const quick = { api: 'http://chat.test/api/chat', retryDelayMs: () => 0, giveUpAfterMs: 2_000 };
  return createResumableChatTransport({ fetch, headers, ...quick });
}

it('a resumable transport passes on a step that is reset, to a page that reads such parts', async () => {
  const runtime = createScripted();
  const [, [, library]] = MAJORS;
  const chat = createStockChat(library, {
    id: 's1',
    ...createChatFetch(runtime),
    transport: (fetch) => createTransport(fetch, { 'x-ai-sdk-profile': 'v7' }),
  });
  const fail = { status: 503, afterDeltas: 2, retryAfterMs: 0, times: 1 };
  const script = [{ think: 'Hm.', say: 'Hello world', deltas: 3, fail }];
  await chat.sendMessage({ text: JSON.stringify({ script }) });
  expect(chat.error).toBeUndefined();
  expect(chat.messages).toEqual(await readStored(runtime, 's1'));
});

describe.each(MAJORS)('%s: a resumable transport', (_name, library) => {
  it.each([
    ['asks', asks, [true, false, true]],
    ['tells', tells, []],
    ['is silent', [{}], []],
    ['says nothing', [{ say: '' }], []],
  ])(
    'a resumable transport shows the stored messages wherever the stream is cut: a turn that %s',
    async (_of, script, answers) => {
      const whole = await playTurn(library, script, answers, []);
      expect(whole.chat.error).toBeUndefined();
      expect(whole.chat.messages).toEqual(whole.stored);
      const max = Math.max(...whole.texts.map((text) => text.length));
      const cuts = fc.array(fc.nat({ max }), { minLength: 1, maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(cuts, async (breaks) => {
          const { chat, stored } = await playTurn(library, script, answers, breaks);
          expect(chat.error).toBeUndefined();
          expect(chat.messages).toEqual(stored);
          expect(withoutRuns(stored.slice(1))).toEqual(withoutRuns(whole.stored.slice(1)));
        }),
        { numRuns: 12 },
      );
    },
  );
});

/** The messages without ids that name the run. */
function withoutRuns(messages: readonly UIMessage[]): unknown {
  return JSON.parse(JSON.stringify(messages).replaceAll(/s1:1-\w+/g, 's1:1'));
}

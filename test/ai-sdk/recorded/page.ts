import { buildSnapshot, type HandleChatStreamDeps, type UIMessage } from '../../../ai-sdk/index.js';
import { createLabAgent } from '../../../examples/lab/agent.js';
import { AgentRegistry } from '../../../agents/index.js';
import { createAnswers } from '../../../runs/record/answers.js';
import { createChatFetch, parseFrames } from '../../support/chat-fetch.js';
import { toComparable } from '../../support/compare-messages.js';
import {
  createStockChat,
  type ChatLibrary,
  type StockChat,
  type StockChatOptions,
} from '../../support/stock-chat.js';
import { checkCommonKeys } from '../common-keys.js';
import { nextTurn } from './next-turn.js';
import type { Player } from './play-changes.js';

/** Who talks in recorded turns. */
const ANN = { userId: 'ann' };

export interface PageOptions {
  library: ChatLibrary;
  /** What the page's client can read. Default: what all can. */
  profile?: 'v7';
  /** For a page without cookies the session's own memory of snapshots counts. */
  hasCookies?: boolean;
  /** How its responses reach it. */
  line?: (response: Response) => Response;
  chat?: Pick<StockChatOptions, 'transport' | 'mostRequests'>;
}

/** Parts that a client was found to take. */
const checked = new WeakMap<ChatLibrary, Set<string>>();

/** A stock page that was loaded (again) from the conversation's snapshot. */
export interface Page {
  chat: StockChat;
  profile: 'v7' | undefined;
  /** Sends the GET by which a page follows an active turn, if it has to; resolves when that is answered. */
  follow: () => Promise<void>;
  /** Resolves when the responses that the page had are over. */
  rests: () => Promise<void>;
  /** Message that the page has been following; undefined if there was nothing to follow. */
  shown: () => string | undefined;
  /** Expects that the page's client takes the stored messages, and the parts that have arrived. */
  checkParts: (stored: UIMessage[]) => Promise<void>;
  /** What the page has to have sent so far. */
  expected: ('GET' | 'POST')[];
}

/** The bridge on a recorded conversation: answers of pages are stored, and wake no workflow. */
export function createBridge({ store, streamManager }: Player): HandleChatStreamDeps {
  const agents = new AgentRegistry([createLabAgent({ countCharge: () => Promise.resolve() })]);
  const logger = { warn: () => undefined };
  const answers = createAnswers({ store, agents, host: 'api', logger });
  const refused = (): Promise<never> => Promise.reject(new Error('the page began something'));
  return {
    // What is overdue now was not when the turn was recorded.
    executor: {
      runs: {
        ...answers,
        submitToolResult: async (...given) => (await answers.submit(...given)).result,
        expireCalls: () => Promise.resolve(false),
        execute: refused,
        retry: refused,
      },
    },
    stateStore: store,
    streamManager,
    agents,
  };
}

export async function loadPage(
  player: Player,
  bridge: HandleChatStreamDeps,
  { library, profile, hasCookies = true, line = (response) => response, chat: more }: PageOptions,
): Promise<Page> {
  const { sessionId, store } = player;
  const snapshot = await buildSnapshot(player, { sessionId, caller: ANN });
  if (snapshot === null) throw new Error('there is no snapshot');
  const seen = snapshot.status === 'active' ? (snapshot.startSequence ?? 0) : null;
  const { fetch, texts } = createChatFetch(bridge, {
    caller: ANN,
    ...(profile !== undefined && { headers: { 'x-ai-sdk-profile': profile } }),
    ...(hasCookies && { sawActiveSince: seen }),
  });
  let answered: (() => void) | undefined;
  let status = 0;
  const chat = createStockChat(library, {
    id: sessionId,
    messages: asJson(snapshot.messages),
    isAutomatic: true,
    ...more,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      ({ status } = response);
      answered?.();
      return line(response);
    },
  });
  let shown: string | undefined;
  let reading: Promise<void> = Promise.resolve();
  const expected: ('GET' | 'POST')[] = [];
  return {
    chat,
    profile,
    expected,
    checkParts: async (stored) => {
      if (stored.length > 0) await library.validateUIMessages({ messages: stored });
      const schema = library.uiMessageChunkSchema();
      const known = checked.get(library) ?? new Set<string>();
      checked.set(library, known);
      for (const { part } of texts.splice(0).flatMap(parseFrames)) {
        const text = JSON.stringify(part);
        if (known.has(text)) continue;
        known.add(text);
        if (profile === undefined) checkCommonKeys(part);
        expect(await schema.validate?.(part)).toMatchObject({ success: true });
      }
    },
    shown: () => shown,
    follow: async () => {
      expected.push('GET');
      const record = await store.sessions.read(sessionId);
      const begun = new Promise<void>((resolve) => (answered = resolve));
      reading = chat.resumeStream();
      await begun;
      const isWanted =
        record !== undefined && (record.stream === 'active' || seen === record.turnStartSequence);
      expect(status).toBe(isWanted ? 200 : 204);
      if (isWanted) shown = record.messageId;
    },
    rests: async () => {
      await reading;
      for (let rested = 0; rested < 5;) {
        await nextTurn();
        rested = chat.status === 'ready' || chat.status === 'error' ? rested + 1 : 0;
      }
    },
  };
}

/** The page shows what is stored, as far as its responses went. */
export async function expectStored(page: Page, player: Player): Promise<void> {
  const { chat } = page;
  const snapshot = await buildSnapshot(player, { sessionId: player.sessionId, caller: ANN });
  const messages = asJson(snapshot?.messages ?? []);
  await page.checkParts(messages);
  const stored = comparable(messages);
  // A reply that failed before its first part is nothing to remember.
  const shown = comparable(chat.messages.filter(({ parts }) => parts.length > 0));
  expect(shown).toEqual(stored.slice(0, shown.length));
  const last = page.shown();
  if (last !== undefined) expect(chat.messages.at(-1)?.id).toBe(last);
  expect(new Set(chat.messages.map(({ id }) => id)).size).toBe(chat.messages.length);
  if (snapshot?.status !== 'failed') expect(chat.error).toBeUndefined();
}

function comparable(messages: readonly UIMessage[]): unknown[] {
  return toComparable(messages) as unknown[];
}

function asJson(messages: readonly UIMessage[]): UIMessage[] {
  return JSON.parse(JSON.stringify(messages)) as UIMessage[];
}

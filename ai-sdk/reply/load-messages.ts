import { MessagesQuery } from '../../protocol/http.js';
import type { MessagesReply } from '../../protocol/replies.js';
import type { SessionRecord, SessionView } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import type { ConvertOptions } from '../parts/convert-messages.js';
import { ValidationError } from '../parts/errors.js';
import type { UIMessage } from '../parts/ui-message.js';
import { toAllMessages, toSettledMessages } from '../turns/ui-history.js';
import { readOwnView, toCaller, type Caller } from './access.js';
import { noteSnapshot } from './build-snapshot.js';

export type LoadAllUIMessagesOptions = Pick<
  ConvertOptions,
  'includeReasoning' | 'includeToolResults' | 'generateId' | 'filterHidden'
> & {
  /** Same as for `buildSnapshot`: conversations of other people are not read. */
  caller?: Caller | undefined;
  /** Marks calls that the reader may not decide. Default: the reader may decide all. */
  judge?: (view: SessionView) => Promise<SessionView>;
};

export type LoadUIMessagesOptions = LoadAllUIMessagesOptions & {
  /** Index of the first message; default 0. */
  offset?: number | undefined;
  /** Default 50, maximum 1,000. */
  limit?: number | undefined;
  /** True for a viewer that follows the newest turn next, and must get it even if it has ended by then. Default false. */
  follows?: boolean;
};

export type UIMessagePage = MessagesReply<UIMessage>;

type HistoryStore = Pick<Store, 'sessions'>;

/**
 * Loads a page of a conversation. Pages count UI messages, so that a call and its result stay
 * together. The message of an active turn is left out, as in a snapshot, since its stream brings
 * it. An unknown session, or one of another person, has no messages.
 *
 * @throws ValidationError for an invalid offset or limit
 */
export async function loadUIMessages(
  stateStore: HistoryStore,
  sessionId: string,
  { offset, limit, follows = false, ...options }: LoadUIMessagesOptions = {},
): Promise<UIMessagePage> {
  const page = MessagesQuery.safeParse({ offset, limit });
  if (!page.success) {
    throw new ValidationError('offset is a whole number, limit one from 1 to 1,000.');
  }
  const from = page.data.offset;
  const to = from + page.data.limit;
  // Ids of replies count visible messages only.
  const wanted = options.filterHidden === false ? undefined : { from, to };
  const read = await readMessages(stateStore, sessionId, options, wanted);
  const { messages, before, record } = read;
  const [start, end] = [from - before, to - before];
  const hasMore = read.hasMore || end < messages.length;
  if (follows && !hasMore && record !== undefined) await noteSnapshot(stateStore, record);
  return { messages: messages.slice(start, end), hasMore };
}

export async function loadAllUIMessages(
  stateStore: HistoryStore,
  sessionId: string,
  options: LoadAllUIMessagesOptions = {},
): Promise<UIMessage[]> {
  return (await readMessages(stateStore, sessionId, options)).messages;
}

interface ReadMessages {
  messages: UIMessage[];
  /** Number of messages before these. */
  before: number;
  hasMore: boolean;
  /** Absent if there is no such conversation. */
  record?: SessionRecord;
}

/** Reads the messages of whole turns. */
async function readMessages(
  stateStore: HistoryStore,
  sessionId: string,
  { judge, generateId, caller = toCaller({}), ...options }: LoadAllUIMessagesOptions,
  wanted?: { from: number; to: number },
): Promise<ReadMessages> {
  const stored = await readOwnView(stateStore, sessionId, caller, wanted);
  if (stored === undefined) return { messages: [], before: 0, hasMore: false };
  const view = (await judge?.(stored)) ?? stored;
  const { messagesBefore: before = 0, hasMore = false } = view;
  const convert: ConvertOptions = {
    ...options,
    ...(generateId && { generateId: (index, row) => generateId(index + before, row) }),
  };
  const isSettled = hasMore || view.record.stream === 'active';
  const messages = isSettled ? toSettledMessages(view, convert) : toAllMessages(view, convert);
  return { messages, before, hasMore, record: view.record };
}

/** Works like `loadUIMessages`, with named parameters, for routes. */
export function getUIMessages(
  { stateStore }: { stateStore: HistoryStore },
  { sessionId, ...options }: LoadUIMessagesOptions & { sessionId: string },
): Promise<UIMessagePage> {
  return loadUIMessages(stateStore, sessionId, options);
}

export interface UIMessageStore {
  getUIMessages: (sessionId: string, options?: LoadUIMessagesOptions) => Promise<UIMessagePage>;
  getAllUIMessages: (sessionId: string, options?: LoadAllUIMessagesOptions) => Promise<UIMessage[]>;
}

/**
 * Creates a store that reads conversations as UI messages.
 *
 * @example
 * import { createUIMessageStore } from 'helix-temporal/ai-sdk';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const { store } = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'refuse' });
 * const history = createUIMessageStore(store);
 * const { messages, hasMore } = await history.getUIMessages('session-1', { limit: 50 });
 */
export function createUIMessageStore(stateStore: HistoryStore): UIMessageStore {
  return {
    getUIMessages: (sessionId, options) => loadUIMessages(stateStore, sessionId, options),
    getAllUIMessages: (sessionId, options) => loadAllUIMessages(stateStore, sessionId, options),
  };
}

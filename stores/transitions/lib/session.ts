import { withKeys } from './host.js';

/** Keys of a session that hold data of its own. */
export const OWN_KEYS = [
  'root',
  'rows',
  'calls',
  'order',
  'busy',
  'writers',
  'messages',
  'runs',
  'checkpoints',
  'settled',
  'states',
  'staged',
  'notices',
  'queue',
  'places',
  'rewinds',
] as const;
/**
 * Keys that a sub-agent's session shares with its conversation; the last two name channels and hold
 * nothing.
 */
export const SHARED_KEYS = [
  'stream',
  'joined',
  'results',
  'children',
  'owners',
  'erased',
  'files',
  'fileBytes',
  'channel',
  'stop',
] as const;
export type KeyName = (typeof OWN_KEYS)[number] | (typeof SHARED_KEYS)[number];

/**
 * The keys of a session.
 *
 * - root: hash, the session and its newest run
 * - stream: the log
 * - joined: stream of pages of it in the form of a replay, see lib/kept-pages
 * - rows: list, the transcript
 * - calls: hash `<field>:<toolCallId>` for the calls of the newest committed step, and `lapsed:`,
 *   `lapsedAt:` for calls of earlier steps that timed out
 * - order: list of the ids of those calls
 * - busy: set, what can progress without a person
 * - writers: hash by writer: `t:` token, `b:` batch, `s:` sequence of that batch, `f:` sequence
 *   before its first entry, `w:` set if an earlier owner wrote, `e:` sequences of events that its
 *   call's row keeps, `n:` nonce of a writer without a run,
 *   `l:` attempts that count as lost, `h:` token of an attempt that has handed over, `g:` number of
 *   forgiven attempts; `fails:<step>`, `since:<step>` and `waits:<step>` of a failing provider,
 *   `model:<step>` that stands in; `tools`, those that servers offered to the run, as JSON; and
 *   `compaction`, the newest one of the run as JSON, with `compactedStep`, the step that made it
 * - messages: hash of accepted ids and their content hashes
 * - runs: hash of ended runs
 * - checkpoints: list
 * - settled: set of all calls whose results are in the transcript
 * - results: hash of large results
 * - states: hash of the agent's own state by version
 * - staged: hash of changes that calls ask for
 * - notices: list of hidden rows for the next step or turn
 * - queue: list of waiting entries
 * - places: hash, `m:<message id>` row and turn of a user message, `t:<turn>` row, sequence and id
 *   of its reply, `a:<turn>` the newest run that replies to it, `c:<checkpoint id>` its index, `e:<checkpoint id>` sequence at which the entries of its step end
 *   `w:<turn>` who asks by it, as JSON texts with line feeds between: the author of its messages first
 * - rewinds: list of `<run number> <row> <mode>`
 * - children: hash of sub-agents' sessions by part, and their run
 * - owners: hash of call ids and the part of the sub-agent that made them, and by `carrierField` the
 *   part of the sub-agent that carries a call out
 * - erased: hash of sub-agents' sessions that are yet to be removed
 * - files: hash, `file:<id>` a file as JSON and `size:<id>` its bytes, `whose` its owner, `count` and
 *   `bytes` of all of them, and `changes`, which only grows
 * - fileBytes: hash `<id>:<n>` of pieces of their bytes, if Redis holds them
 * - channel, stop: channels for publications
 * - audit: list of acts that are yet to be relayed, see lib/outbox; it is no key of the session, whose end it outlives
 * - gone: list of erasures that are not complete, likewise
 * - elsewhere: hash of files whose bytes another store keeps, and when they were noted, ms; likewise
 */
export type Session = Record<KeyName, string> & {
  /** Id of the conversation. */
  conversationId: string;
  /** The rest of this session's id after the conversation's; '' for the conversation itself. */
  part: string;
  /** What the names of its own keys begin with. */
  base: string;
  /** The session of the conversation: this one, unless it is a sub-agent's. */
  conversation: Session;
  /** Of the conversation: the sub-agents' sessions that this transition has opened. */
  below: Record<string, Session>;
  /** The root hash as this transition knows it, see root. */
  known: KnownRoot;
  settings: Settings;
};

/** What a transition knows of a root hash, and is going to change of it. */
export interface KnownRoot {
  /** Nothing is known of it yet. */
  isNew: boolean;
  fields: Partial<Record<string, string>>;
  /** The names that were read first. */
  first?: readonly string[];
  /** Names of fields that are known to be absent, or were. */
  absent: Partial<Record<string, boolean>>;
  /** Names and values in turn. */
  changed: string[];
  dropped: string[];
}

export interface Settings {
  /** How long the stream of an ended run is kept, seconds. */
  streamTtlSeconds: number;
  /** How long an ended session is kept, seconds; 0: no limit. */
  sessionTtlSeconds: number;
}

/** The session that a transition works on, from its id and the root of its conversation. */
export function openSession(sessionId: string, root: string, settings: Settings): Session {
  const dot = sessionId.indexOf('.');
  const known: KnownRoot = { isNew: true, fields: {}, absent: {}, changed: [], dropped: [] };
  const own = {
    conversationId: dot < 0 ? sessionId : sessionId.slice(0, dot),
    part: '',
    base: root.slice(0, -'root'.length),
    root,
    below: {},
    known,
    settings,
  };
  const conversation = withKeys(own, KEYS) as unknown as Session;
  conversation.conversation = conversation;
  return dot < 0 ? conversation : sessionAt(conversation, sessionId.slice(dot + 1));
}
const KEYS = [...SHARED_KEYS, ...OWN_KEYS];

/**
 * Field of a call in `owners`. A model may name a call like such a field: readers compare the call
 * with that of the sub-agent's record.
 *
 * @param part of the session whose call it is
 */
export function carrierField(part: string, toolCallId: string): string {
  return `carrier ${part} ${toolCallId}`;
}

/** The files of a conversation whose bytes another store keeps, until they are removed there. */
export function elsewhereOf({ conversation }: Session): string {
  return `${conversation.base}elsewhere`;
}

/** Another session of the same conversation. */
export function sessionAt(of: Session, part: string): Session {
  const { conversation } = of;
  if (part === '') return conversation;
  // A property of any object could be called like a part, but not with a dot.
  const place = `.${part}`;
  const seen = conversation.below[place];
  if (seen !== undefined) return seen;
  const { conversationId, below, settings } = conversation;
  const known: KnownRoot = { isNew: true, fields: {}, absent: {}, changed: [], dropped: [] };
  const base = `${conversation.base}${part}:`;
  const own = { conversationId, part, base, conversation, below, known, settings };
  const session = withKeys(own, OWN_KEYS) as Session;
  for (const name of SHARED_KEYS) session[name] = conversation[name];
  below[place] = session;
  return session;
}

export function isConversation(session: Session): boolean {
  return session.part === '';
}

export function idOf({ conversationId, part }: Session): string {
  return part === '' ? conversationId : `${conversationId}.${part}`;
}

/** Keys that hold a session's own data, in the order in which transitions get them. */
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
  'results',
  'children',
  'owners',
  'erased',
  'channel',
  'stop',
] as const;
export type KeyName = (typeof OWN_KEYS)[number] | (typeof SHARED_KEYS)[number];

/**
 * The keys of a session.
 *
 * - root: hash, the session and its newest run
 * - stream: the log
 * - rows: list, the transcript
 * - calls: hash `<field>:<toolCallId>` for the calls of the newest committed step, and `lapsed:`,
 *   `lapsedAt:` for calls of earlier steps that timed out
 * - order: list of the ids of those calls
 * - busy: set, what can progress without a person
 * - writers: hash by writer: `t:` token, `b:` batch, `s:` sequence of that batch, `f:` sequence
 *   before its first entry, `w:` set if an earlier owner wrote, `e:` sequences of events that its
 *   call's row keeps, `o:` token for which these are noted, `n:` nonce of a writer without a run,
 *   `l:` attempts that count as lost, `h:` token of an attempt that has handed over, `g:` number of
 *   forgiven attempts; and `fails:<step>`
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
 *   of its reply (`r:<row>` while turns of an earlier release are noted), `c:<checkpoint id>` its
 *   index, `e:<checkpoint id>` sequence at which the entries of its step end
 * - rewinds: list of `<run number> <row> <mode>`
 * - children: hash of sub-agents' sessions by part, and their run
 * - owners: hash of call ids and the part of the sub-agent that made them
 * - erased: hash of sub-agents' sessions that are yet to be removed
 * - channel, stop: channels for publications
 */
export type Session = Record<KeyName, string> & {
  /** Id of the conversation. */
  conversationId: string;
  /** The rest of this session's id after the conversation's; '' for the conversation itself. */
  part: string;
  /** The session of the conversation: this one, unless it is a sub-agent's. */
  conversation: Session;
  settings: Settings;
};

export interface Settings {
  /** How long the stream of an ended run is kept, seconds. */
  streamTtlSeconds: number;
  /** How long an ended session is kept, seconds; 0: no limit. */
  sessionTtlSeconds: number;
  /** Layout in which records are written, see lib/layout. */
  layout: number;
}

/** Builds a session from its id and keys, those of the conversation first. */
export function openSession(
  sessionId: string,
  keys: readonly string[],
  settings: Settings,
): Session {
  const dot = sessionId.indexOf('.');
  // Spelled out in the order of the lists rather than looped, since every transition begins here.
  const conversation = {
    conversationId: dot < 0 ? sessionId : sessionId.slice(0, dot),
    part: '',
    settings,
    stream: keys[0],
    results: keys[1],
    children: keys[2],
    owners: keys[3],
    erased: keys[4],
    channel: keys[5],
    stop: keys[6],
    root: keys[7],
    rows: keys[8],
    calls: keys[9],
    order: keys[10],
    busy: keys[11],
    writers: keys[12],
    messages: keys[13],
    runs: keys[14],
    checkpoints: keys[15],
    settled: keys[16],
    states: keys[17],
    staged: keys[18],
    notices: keys[19],
    queue: keys[20],
    places: keys[21],
    rewinds: keys[22],
  } as unknown as Session;
  conversation.conversation = conversation;
  return dot < 0 ? conversation : sessionAt(conversation, sessionId.slice(dot + 1));
}

/** Another session of the same conversation. */
export function sessionAt(of: Session, part: string): Session {
  const { conversation } = of;
  if (part === '') return conversation;
  if (part === of.part) return of;
  const { conversationId, settings } = conversation;
  const session = { conversationId, part, conversation, settings } as Session;
  const base = `${conversation.root.slice(0, -'root'.length)}${part}:`;
  for (const name of SHARED_KEYS) session[name] = conversation[name];
  for (const name of OWN_KEYS) session[name] = base + name;
  return session;
}

export function isConversation(session: Session): boolean {
  return session.part === '';
}

export function idOf({ conversationId, part }: Session): string {
  return part === '' ? conversationId : `${conversationId}.${part}`;
}

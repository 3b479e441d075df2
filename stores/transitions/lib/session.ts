/** Keys of a session that hold data of its own, in the order in which transitions are given them. */
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
/** Keys that a sub-agent's session shares with its conversation's; the last two hold nothing. */
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
 * Where a session is kept.
 *
 * root: hash, the session and its newest run · stream: the log · rows: list, the transcript ·
 * calls: hash `<field>:<toolCallId>` for the calls of the newest committed step, and `lapsed:`,
 * `lapsedAt:` for calls of earlier steps that timed out · order: list of the ids of those calls ·
 * busy: set, what can progress without a person · writers: hash by writer: `t:` token, `b:` batch,
 * `s:` sequence of that batch, `f:` sequence before its first entry, `w:` set if an owner before this
 * one wrote, `e:` sequences that its call's row keeps, `o:` token of which this is noted, `n:` nonce
 * of a writer of no run, `l:` attempts that count as lost, `h:` token of one that has handed over,
 * `g:` how many were forgiven; and
 * `fails:<step>` · messages: hash of accepted ids and hashes · runs: hash of ended runs ·
 * checkpoints: list · settled: set of all calls ever taken in · results: hash of large results ·
 * states: hash of the agent's own state by version · staged: hash of changes that calls ask for ·
 * notices: list of hidden rows for the next step or turn · queue: list of entries that wait ·
 * places: hash, `m:<message id>` row and turn of user messages, `t:<turn>` row, sequence and id of
 * its reply (`r:<row>` while an earlier release's turns are noted), `c:<checkpoint id>` its index, `e:<checkpoint id>` sequence at which its step's entries end ·
 * rewinds: list of `<run number> <row> <mode>` · children: hash of sub-agents' sessions by part,
 * and their run · owners: hash of call ids and the part of the sub-agent that made them · erased:
 * hash of sub-agents' sessions that are yet to be removed · channel, stop: of publications.
 */
export type Session = Record<KeyName, string> & {
  /** Id of the conversation. */
  conversationId: string;
  /** What this session's id has behind it; '' for the conversation's own session. */
  part: string;
  /** The conversation's own session: this one, unless it is a sub-agent's. */
  conversation: Session;
  settings: Settings;
};

export interface Settings {
  /** How long what has ended is kept, seconds. */
  streamTtlSeconds: number;
  /** The same of a session; 0: without limit. */
  sessionTtlSeconds: number;
  /** Layout in which records are written, see layout. */
  layout: number;
}

/** The session that a transition works on, from its id and keys: those of the conversation first. */
export function openSession(
  sessionId: string,
  keys: readonly string[],
  settings: Settings,
): Session {
  const dot = sessionId.indexOf('.');
  // Spelled out in the order of the lists, since every transition begins with it.
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

/** A session of the conversation. */
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

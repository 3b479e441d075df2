import type { Event } from '../session/events.js';
import type { Read, Source, Want, Write } from '../session/fields.js';
import { setTimeout as pause } from 'node:timers/promises';
import { HelixError } from '../protocol/errors.js';
import { begin } from '../session/begin.js';
import { LAYOUT } from '../session/record.js';
import { Tree, type Session } from '../session/tree.js';

/** What a store brings so that changes can be made on it. */
export interface Backend {
  /** Reads of one conversation, at one moment. `isLarge`: other work does not wait behind them. */
  load: (conversationId: string, reads: readonly Want[], isLarge: boolean) => Promise<Loaded>;
  /**
   * Writes all or nothing, if the version still stands. `behind`: the log has entries above its sequence, which a store
   * that failed in between has left.
   */
  commit: (
    conversationId: string,
    version: string,
    commit: Commit,
  ) => Promise<'stored' | 'stale' | 'behind'>;
  /** How long ended streams and sessions are kept, ms; 0: no limit. */
  keep: Source['keep'];
}

export interface Commit {
  writes: readonly Write[];
  /** Of the log with what is written. */
  sequence: number;
  logBytes: number;
  /** It frees memory or ends a run, and is stored where Redis is full, too. */
  isFreeing: boolean;
  /** It holds whatever was appended meanwhile, and adds no entries. */
  mayGrow: boolean;
}

/**
 * Gets the events of a change after the commit, or once the change has found nothing to store. It runs in the caller's
 * asynchronous context, before the caller gets its reply.
 */
export type Listener = (sessionId: string, events: readonly Event[]) => void;

export interface ChangeOptions {
  listener?: Listener | undefined;
  /** What this change is going to ask for. Default: what most changes with such an input ask for. */
  wants?: readonly Want[];
  isFreeing?: boolean;
  /** The log may grow meanwhile: nothing is decided by its end, and nothing written there. */
  mayGrow?: boolean;
  /** The commit waits for this write elsewhere; the load does not. */
  noted?: Promise<unknown> | undefined;
}

export interface Loaded {
  version: string;
  /** The same without the log, which grows by appends alone, too. */
  recordVersion: string;
  /** The store's clock, ms since the epoch. */
  now: number;
  /** Sequence of the newest entry, and the size of what expires with the log. */
  sequence: number;
  logBytes: number;
  /** Of `calls`: reads and their replies. */
  replies: readonly unknown[];
}

/**
 * Makes a change of a session with its input; `decide` may be called more than once.
 *
 * @throws HelixError `unavailable` for a record that a newer build has laid out
 */
export type Change = <Input extends object, Reply>(
  sessionId: string,
  decide: (session: Session, input: Input) => Reply,
  input: Input,
  options?: ChangeOptions,
) => Promise<Reply>;

/** Reads a session at one moment; what `look` writes is not stored. No change waits for it, nor it for one. */
export type Look = <Reply>(
  sessionId: string,
  look: (session: Session) => Reply,
  options?: { wants?: readonly Want[]; isLarge?: boolean },
) => Promise<Reply>;

/** What others always overtake is given up. */
const MOST_TRIES = 50;
/** Tries after which one waits for a moment. */
const HASTY_TRIES = 3;
const MOST_PAUSE_MS = 20;

type Address = readonly [conversationId: string, part: string];

interface Decided<Reply> {
  reply: Reply;
  tree: Tree;
  loaded: Loaded;
}

interface Loads {
  wants?: readonly Want[];
  isLarge?: boolean;
  /** The log may grow between two loads; it is as the first one has found it. */
  mayGrow?: boolean;
  /** What is written is not stored. */
  onlyLooks?: boolean;
  /** Sequences from which entries are numbered at least. */
  floor?: number;
}

/**
 * Makes changes of conversations: reads what a change asks for, decides it here, and stores it if the version on which
 * it was decided still stands. Changes of one conversation wait for each other in this process, so that contention is
 * between processes.
 */
export function createChange(backend: Backend): { change: Change; look: Look } {
  const queued = createQueues();

  /** Loads until nothing is missing that is asked for; undefined if something has changed between two loads. */
  async function decideOn<Reply>(
    [conversationId, part]: Address,
    decide: (session: Session) => Reply,
    { wants = [], isLarge = false, mayGrow = false, onlyLooks = false, floor = 0 }: Loads,
  ): Promise<Decided<Reply> | undefined> {
    const known = new Map<string, unknown>();
    let reads: readonly Want[] = [...recordsOf(part), ...wants];
    let first: Loaded | undefined;
    for (;;) {
      const loaded = await backend.load(conversationId, reads, isLarge).catch(asCorrupt);
      first ??= loaded;
      const isSame = mayGrow
        ? first.recordVersion === loaded.recordVersion
        : first.version === loaded.version;
      if (!isSame) return undefined;
      reads.forEach((read, at) => {
        note(known, read, loaded.replies[at]);
      });
      const { sequence, logBytes } = first;
      const source = new KnownSource(
        known,
        { now: loaded.now, sequence: Math.max(sequence, floor), logBytes },
        backend.keep,
      );
      const tree = new Tree(conversationId, source);
      const decided = tryTo(() => ({ reply: decide(tree.session(part)) }));
      // What is written may ask for more.
      if (!onlyLooks && 'reply' in decided) tryTo(() => tree.writes());
      reads = [...source.missing.values()];
      if (reads.length > 0) continue;
      if ('error' in decided) asCorrupt(decided.error);
      return { reply: decided.reply, tree, loaded: first };
    }
  }

  async function untilDone<Done>(attempt: () => Promise<Done | undefined>): Promise<Done> {
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const done = await attempt();
      if (done !== undefined) return done;
      if (tries >= HASTY_TRIES) await pause(Math.random() * MOST_PAUSE_MS);
    }
    throw new Error('other changes of this conversation were always first');
  }

  function decideUntilStored<Reply>(
    at: Address,
    decide: (session: Session) => Reply,
    { wants, isFreeing = false, mayGrow = false, noted }: ChangeOptions,
  ): Promise<Decided<Reply>> {
    let floor = 0;
    return untilDone(async () => {
      const decided = await decideOn(at, decide, { wants, floor, mayGrow });
      if (decided === undefined) return undefined;
      const { tree, loaded } = decided;
      const writes = tree.writes();
      if (writes.length === 0) return decided;
      const { sequence, bytes: logBytes } = tree.log;
      const commit = { writes, sequence, logBytes, isFreeing, mayGrow };
      await noted;
      const stored = await backend.commit(at[0], loaded.version, commit);
      if (stored === 'stored') return decided;
      const from = Math.max(loaded.sequence, floor);
      if (stored === 'behind') floor = from + Math.max(1, from - loaded.sequence) * 2;
      return undefined;
    });
  }

  return {
    change: async (sessionId, decide, input, options = {}) => {
      const at = addressOf(sessionId);
      const given = wellFormed(input);
      const { wants = wantsOf(decide, at[1], given) } = options;
      const { reply, tree } = await queued(at[0], () =>
        decideUntilStored(at, (session) => decide(checked(session), given), { ...options, wants }),
      );
      if (tree.events.length > 0) options.listener?.(sessionId, tree.events);
      return reply;
    },
    look: async (sessionId, look, options = {}) => {
      const given = { ...options, mayGrow: true, onlyLooks: true };
      return (await untilDone(() => decideOn(addressOf(sessionId), look, given))).reply;
    },
  };
}

/** Does one work after the other for each key, whether they succeed or not. */
type Queued = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export function createQueues(): Queued {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    const done = (): void => {
      if (last.get(key) === own) last.delete(key);
    };
    own.then(done, done);
    return own;
  };
}

function addressOf(sessionId: string): Address {
  const dot = sessionId.indexOf('.');
  return dot < 0 ? [sessionId, ''] : [sessionId.slice(0, dot), sessionId.slice(dot + 1)];
}

function note(known: Map<string, unknown>, want: Want, reply: unknown): void {
  if (want[0] !== 'calls') known.set(nameOf(want), reply);
  else for (const [read, found] of reply as [Read, unknown][]) known.set(nameOf(read), found);
}

/** Nearly every change looks at the record of its session, and at that of the conversation. */
function recordsOf(part: string): Read[] {
  const own: Read[] = [
    ['field', 'record', '', 'record'],
    ['field', 'record', '', 'live'],
    ['field', 'record', '', 'changes'],
  ];
  return part === ''
    ? own
    : [['field', 'record', part, 'record'], ['field', 'record', part, 'live'], ...own];
}

/** What cannot be parsed was not written by this build. */
function asCorrupt(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  throw new HelixError('corrupt_record', 'A stored record cannot be read.', { cause: error });
}

class KnownSource implements Source {
  readonly now: number;
  readonly sequence: number;
  readonly logBytes: number;
  readonly keep: Source['keep'];
  readonly missing = new Map<string, Read>();
  private readonly known: ReadonlyMap<string, unknown>;

  constructor(
    known: ReadonlyMap<string, unknown>,
    { now, sequence, logBytes }: Pick<Loaded, 'now' | 'sequence' | 'logBytes'>,
    keep: Source['keep'],
  ) {
    this.known = known;
    this.now = now;
    this.sequence = sequence;
    this.logBytes = logBytes;
    this.keep = keep;
  }

  ask(read: Read): unknown {
    const name = nameOf(read);
    if (this.known.has(name)) return this.known.get(name);
    this.missing.set(name, read);
    return undefined;
  }
}

function nameOf(read: Read): string {
  return read.join('\0');
}

/** What is decided on values that are not read yet may fail; it counts only once nothing is missing. */
function tryTo<Result>(work: () => Result): Result | { error: unknown } {
  try {
    return work();
  } catch (error) {
    return { error };
  }
}

/** @throws HelixError `unavailable` if a newer build has laid out the record, which sub-agents' sessions share */
export function checked(session: Session): Session {
  if ((session.tree.conversation.record?.layout ?? 0) <= LAYOUT) return session;
  throw newerLayout();
}

export function newerLayout(): HelixError {
  return new HelixError(
    'unavailable',
    'This conversation was written by a newer build; only servers of that build can continue it.',
  );
}

/** Half characters are stored as U+FFFD, and compared as such. */
function wellFormed<Value>(value: Value): Value {
  if (typeof value === 'string')
    return (value.isWellFormed() ? value : value.toWellFormed()) as Value;
  if (Array.isArray(value)) {
    const items = value.map(wellFormed);
    return (items.every((item, at) => item === value[at]) ? value : items) as Value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([name, each]) => [wellFormed(name), wellFormed(each)] as const,
  );
  const isSame = entries.every(([name, each]) => (value as Record<string, unknown>)[name] === each);
  return isSame ? value : (Object.fromEntries(entries) as Value);
}

interface Asking {
  writer?: { name: string };
  /** Of a claim. */
  wants?: object;
  toolCallId?: string;
  messages?: readonly { id: string }[];
}

/** What most changes ask for, by what they are given, so that it is read at once. */
function wantsOf(decide: unknown, part: string, input: object): Want[] {
  const { writer, wants: asked, toolCallId: id, messages = [] } = input as Asking;
  // A step takes in the results of the calls before it.
  const contents = asked === undefined ? [] : ['row'];
  const wants: Want[] = [
    ['rowCount', part],
    ['calls', part, ...contents],
  ];
  const name = writer?.name;
  if (name !== undefined) {
    for (const kind of ['w', 'b', 'e', 't'])
      wants.push(['field', 'writers', part, `${kind}:${name}`]);
  }
  // What an execution is given.
  const given = name === undefined ? [] : ['spec', 'decision', 'approver'];
  if (id !== undefined) wants.push(...wantsOfCall(part, id, given));
  for (const message of messages) wants.push(['field', 'index', part, `m:${message.id}`]);
  if (decide === begin) wants.push(['field', 'files', '', 'whose'], ['entryCount']);
  return wants;
}

/** What is read of a call whose answer is addressed to the conversation, and these contents of it. */
export function wantsOfCall(part: string, id: string, contents: readonly string[]): Want[] {
  return [
    ['field', 'record', part, `call:${id}`],
    ['field', 'index', part, `s:${id}`],
    ['field', 'index', '', `o:${id}`],
    ...contents.map((what) => ['field', 'content', part, `${what}:${id}`] as const),
  ];
}

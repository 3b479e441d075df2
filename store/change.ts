import type { Event } from '../session/events.js';
import type { Read, Source, Want, Write } from '../session/fields.js';
import { setTimeout as pause } from 'node:timers/promises';
import { HelixError } from '../protocol/errors.js';
import { childPartOf, rootOf } from '../protocol/ids.js';
import { begin } from '../session/begin.js';
import { LAYOUT } from '../session/record.js';
import { Tree, type Session } from '../session/tree.js';

/** The primitives that a store implements; `createChange` builds every change on them. */
export interface Backend {
  /** Reads a conversation at one moment. `isLarge`: other work must not wait behind these reads. */
  load: (conversationId: string, reads: readonly Want[], isLarge: boolean) => Promise<Loaded>;
  /** Writes all or nothing, if the version is unchanged. `behind`: a failed store left entries above its sequence. */
  commit: (
    conversationId: string,
    version: string,
    commit: Commit,
  ) => Promise<'stored' | 'stale' | 'behind'>;
  keep: Source['keep'];
}

export interface Commit {
  writes: readonly Write[];
  /** Sequence of the log after the commit; absent for a change that depends on nothing of it. */
  sequence: number | undefined;
  /** Number of bytes that the log gains. */
  bytes: number;
  /** True for a commit that frees memory or ends a run, which a full Redis accepts too. */
  isFreeing: boolean;
  /** True if appends meanwhile do not invalidate the commit. */
  mayGrow: boolean;
}

/**
 * Gets a change's events after the commit, or after a change that stored nothing. Runs in the caller's asynchronous
 * context, before the caller gets its reply.
 */
export type Listener = (sessionId: string, events: readonly Event[]) => void;

export interface ChangeOptions {
  listener?: Listener | undefined;
  /** Reads that this change will need. Default: the usual reads for its input. */
  wants?: readonly Want[];
  isFreeing?: boolean;
  /** A write elsewhere for which the commit waits; the load does not. */
  noted?: Promise<unknown> | undefined;
  /**
   * The first try needs no load: it is decided on what a look has just kept, and counts only if it is stored, that is,
   * if nothing changed in between.
   */
  usesKept?: boolean;
}

export interface Loaded {
  version: string;
  /** The version without the log, which also grows by appends. */
  recordVersion: string;
  /** The store's clock, ms since the epoch. */
  now: number;
  sequence: number;
  /** Bytes of the log and of everything that expires with it. */
  logBytes: number;
  /** One reply per read; for a want that gives several reads, pairs of reads and replies. */
  replies: readonly unknown[];
}

/** Changes a session. `decide` may be called more than once. @throws HelixError `unavailable` for a newer layout */
export type Change = <Input extends object, Reply>(
  sessionId: string,
  decide: (session: Session, input: Input) => Reply,
  input: Input,
  options?: ChangeOptions,
) => Promise<Reply>;

/** Reads a session at one moment; writes of `look` are not stored. Looks and changes do not wait for each other. */
export type Look = <Reply>(
  sessionId: string,
  look: (session: Session) => Reply,
  /** `keeps`: a change that follows at once may use what is read. */
  options?: { wants?: readonly Want[]; isLarge?: boolean; keeps?: boolean },
) => Promise<Reply>;

/** A change that loses every race fails after this many tries. */
const MAX_TRIES = 50;
/** After this many tries, a change pauses before the next, and leaves room for appends before its entries. */
const IMMEDIATE_TRIES = 3;
/** Number of sequences that are left free for them. */
const ROOM = 1_000;
const MAX_PAUSE_MS = 20;
/** A read is kept for this long. */
const KEPT_MS = 100;

type Address = readonly [conversationId: string, part: string];

/** What was read of a conversation at one moment. */
interface Kept {
  loaded: Loaded;
  /** Replies by name of the read. */
  known: ReadonlyMap<string, unknown>;
}

interface Decided<Reply> extends Kept {
  reply: Reply;
  tree: Tree;
  writes: readonly Write[];
}

interface Loads {
  wants?: readonly Want[];
  isLarge?: boolean;
  /** Writes are not stored. */
  onlyLooks?: boolean;
  /** New entries are numbered above this sequence. */
  floor?: number;
  /** Sequences left free for entries that are appended before the commit. */
  room?: number;
  /** Read before; only what is missing is loaded. */
  kept?: Kept | undefined;
}

/**
 * Makes changes of conversations: reads what a change asks for, decides it here, and stores it if the version is
 * unchanged. Changes of one conversation queue up in this process, so that only processes contend.
 */
export function createChange(backend: Backend): { change: Change; look: Look } {
  const queued = createQueues();
  const allKept = new Map<string, Kept & { at: number }>();

  function keep(conversationId: string, { loaded, known }: Kept): void {
    const kept = { loaded, known, at: performance.now() };
    allKept.set(conversationId, kept);
    setTimeout(() => {
      if (allKept.get(conversationId) === kept) allKept.delete(conversationId);
    }, KEPT_MS).unref();
  }

  /** Returns what is kept, at the time that the store's clock has reached since. */
  function keptOf(conversationId: string): Kept | undefined {
    const kept = allKept.get(conversationId);
    if (kept === undefined) return undefined;
    const now = kept.loaded.now + Math.floor(performance.now() - kept.at);
    return { ...kept, loaded: { ...kept.loaded, now } };
  }

  /** Loads until every requested read is known. Returns undefined if something changed between two loads. */
  async function decideOn<Reply>(
    [conversationId, part]: Address,
    decide: (session: Session) => Reply,
    { wants = [], isLarge = false, onlyLooks = false, floor = 0, room = 0, kept }: Loads,
  ): Promise<Decided<Reply> | undefined> {
    const known = new Map(kept?.known);
    const load = async (reads: readonly Want[]): Promise<Loaded> => {
      const loaded = await backend.load(conversationId, reads, isLarge).catch(asCorrupt);
      reads.forEach((read, at) => {
        note(known, read, loaded.replies[at]);
      });
      return loaded;
    };
    const first = kept?.loaded ?? (await load([...recordsOf(part), ...wants]));
    for (let loaded = first; ;) {
      if (first.recordVersion !== loaded.recordVersion) return undefined;
      const missing = new Map<string, Read>();
      const tree = new Tree(conversationId, {
        now: loaded.now,
        sequence: first.sequence,
        numberedAbove: Math.max(first.sequence + room, floor),
        logBytes: first.logBytes,
        keep: backend.keep,
        ask: (read) => {
          const name = nameOf(read);
          if (!known.has(name)) missing.set(name, read);
          return known.get(name);
        },
      });
      const decided = tryTo(() => {
        const reply = decide(tree.session(part));
        // Writes may ask for more reads.
        return { reply, writes: onlyLooks ? [] : tree.writes() };
      });
      if (missing.size > 0) {
        loaded = await load([...missing.values()]);
        continue;
      }
      const mayGrow = onlyLooks || mayGrowUnder(tree, room);
      if (!mayGrow && first.version !== loaded.version) return undefined;
      if ('error' in decided) asCorrupt(decided.error);
      return { ...decided, tree, loaded: first, known };
    }
  }

  function decideUntilStored<Reply>(
    at: Address,
    decide: (session: Session) => Reply,
    { wants, isFreeing = false, noted, usesKept = false }: ChangeOptions,
  ): Promise<Decided<Reply>> {
    let floor = 0;
    let tries = 0;
    let addsEntries = false;
    let kept = usesKept ? keptOf(at[0]) : undefined;
    return untilDone(async () => {
      tries += 1;
      const room = addsEntries && tries > IMMEDIATE_TRIES ? ROOM : 0;
      const isKept = kept !== undefined;
      const decided = await decideOn(at, decide, { wants, floor, room, kept });
      kept = undefined;
      if (decided === undefined) return undefined;
      const { tree, writes, loaded } = decided;
      addsEntries = writes.some(([kind]) => kind === 'add');
      // Without an entry after it, the room would count as a part of the log.
      if (room > 0 && !addsEntries) return undefined;
      // A refusal is decided again, on what the conversation is now.
      if (writes.length === 0) return isKept ? undefined : decided;
      const mayGrow = mayGrowUnder(tree, room);
      const sequence = tree.log.isUsed ? tree.log.sequence : undefined;
      const bytes = tree.log.bytes - loaded.logBytes;
      const commit = { writes, sequence, bytes, isFreeing, mayGrow };
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
    look: async (sessionId, look, { keeps = false, ...options } = {}) => {
      const at = addressOf(sessionId);
      const given = { ...options, onlyLooks: true };
      const decided = await untilDone(() => decideOn(at, look, given));
      if (keeps) keep(at[0], decided);
      return decided.reply;
    },
  };
}

/** Returns true if a change holds although entries are appended before its commit. */
function mayGrowUnder({ log }: Tree, room: number): boolean {
  return !log.isRead && (!log.isUsed || room > 0);
}

/** @param attempt returns undefined whenever another writer was faster */
export async function untilDone<Done>(
  attempt: () => Promise<Done | undefined>,
  mostTries = MAX_TRIES,
): Promise<Done> {
  for (let tries = 1; tries <= mostTries; tries += 1) {
    const done = await attempt();
    if (done !== undefined) return done;
    if (tries >= IMMEDIATE_TRIES) await pause(Math.random() * MAX_PAUSE_MS);
  }
  throw new HelixError('unavailable', 'Other changes of the conversation were always first.');
}

/** Runs work for each key one after the other, even after failures. */
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
  return [rootOf(sessionId), childPartOf(sessionId)];
}

function note(known: Map<string, unknown>, want: Want, reply: unknown): void {
  if (!givesSeveral(want)) known.set(nameOf(want), reply);
  else for (const [read, found] of reply as [Read, unknown][]) known.set(nameOf(read), found);
}

function givesSeveral(want: Want): want is Exclude<Want, Read> {
  return want[0] === 'calls' || want[0] === 'newRows' || want[0] === 'state';
}

/** Nearly every change reads the records of its session and of the conversation. */
function recordsOf(part: string): Read[] {
  const own = ['record', 'live'].map((name): Read => ['field', 'record', part, name]);
  const changes: Read = ['field', 'record', '', 'changes'];
  return part === '' ? [...own, changes] : [...own, ...recordsOf('')];
}

/** Reports text that cannot be parsed, which this build did not write. */
function asCorrupt(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  throw new HelixError('corrupt_record', 'A stored record cannot be read.', { cause: error });
}

function nameOf(read: Read): string {
  return read.join('\0');
}

/** Catches errors of decisions on values that are not read yet; an error counts only once nothing is missing. */
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

/** Replaces lone surrogates by U+FFFD, as which they are stored and compared. */
function wellFormed<Value>(value: Value): Value {
  if (typeof value === 'string') return value.toWellFormed() as Value;
  if (Array.isArray(value)) return value.map(wellFormed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [
    wellFormed(name),
    wellFormed<unknown>(each),
  ]);
  return Object.fromEntries(entries) as Value;
}

interface Asking {
  writer?: { name: string };
  /** Only for a claim. */
  wants?: { rows: number; state: boolean };
  withState?: boolean;
  toolCallId?: string;
  /** Id that a new call would like to have. */
  wanted?: string;
  messages?: readonly { id: string }[];
}

/** A claim reads new rows only up to this number. */
export const MAX_NEW_ROWS = 100;

/** Returns the reads that most changes need for their input, so that one load suffices. */
function wantsOf(decide: unknown, part: string, input: object): Want[] {
  const asking = input as Asking;
  const { writer, wants: asked, toolCallId: id, wanted, messages = [] } = asking;
  // A claim moves the results of the previous calls into the transcript.
  const contents = asked === undefined ? [] : ['row'];
  const wants: Want[] = [
    ['rowCount', part],
    ['calls', part, ...contents],
  ];
  if (asked !== undefined) wants.push(['newRows', part, asked.rows, MAX_NEW_ROWS]);
  if (asked?.state === true || asking.withState === true) wants.push(['state', part]);
  const name = writer?.name;
  if (name !== undefined) {
    for (const kind of ['w', 'b', 'e', 't'])
      wants.push(['field', 'writers', part, `${kind}:${name}`]);
  }
  // Contents of a permission to execute.
  const given = name === undefined ? [] : ['spec', 'decision', 'approver'];
  if (id !== undefined) wants.push(...wantsOfCall(part, id, given));
  // An id must be free in the whole conversation.
  if (wanted !== undefined) wants.push(...wantsOfCall('', wanted, []));
  for (const message of messages) wants.push(['field', 'index', part, `m:${message.id}`]);
  if (decide === begin) wants.push(['field', 'files', '', 'whose'], ['entryCount']);
  return wants;
}

/** Returns the reads for a call that is addressed through the conversation, with these contents. */
export function wantsOfCall(part: string, id: string, contents: readonly string[]): Want[] {
  return [
    ['field', 'record', part, `call:${id}`],
    ['field', 'index', part, `s:${id}`],
    ['field', 'index', '', `o:${id}`],
    ...contents.map((what) => ['field', 'content', part, `${what}:${id}`] as const),
  ];
}

import { type Read, type Source, type Write } from '../session/fields.js';
import { setTimeout as pause } from 'node:timers/promises';
import { HelixError } from '../protocol/errors.js';
import { Tree, type Session } from '../session/tree.js';

/** What a store brings so that changes can be made on it. */
export interface Backend {
  /** Reads of one conversation, at one moment. `isLarge`: other work does not wait behind them. */
  load: (conversationId: string, reads: readonly Read[], isLarge: boolean) => Promise<Loaded>;
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
}

export interface Options {
  /** What this change is going to ask for. */
  wants?: readonly Read[];
  isFreeing?: boolean;
  /** It only reads, and much: no change waits for it. */
  isLarge?: boolean;
}

export interface Loaded {
  version: string;
  /** The store's clock, ms since the epoch. */
  now: number;
  /** Sequence of the newest entry, and the size of what expires with the log. */
  sequence: number;
  logBytes: number;
  replies: readonly unknown[];
}

/** Makes a change of a session, or reads it; `decide` may be called more than once. */
export type Change = <Reply>(
  sessionId: string,
  decide: (session: Session) => Reply,
  options?: Options,
) => Promise<Reply>;

/** A change that others always overtake is given up. */
const MOST_TRIES = 50;
/** Tries after which one waits for a moment. */
const HASTY_TRIES = 3;
const MOST_PAUSE_MS = 20;

/**
 * Makes changes of conversations: reads what a change asks for, decides it here, and stores it if the version on which
 * it was decided still stands. Changes of one conversation wait for each other in this process, so that contention is
 * between processes.
 */
export function createChange(backend: Backend): Change {
  const queues = new Map<string, Promise<unknown>>();

  async function attempt<Reply>(
    [conversationId, part]: readonly [string, string],
    decide: (session: Session) => Reply,
    { wants = [], isFreeing = false, isLarge = false }: Options,
    log: { floor: number },
  ): Promise<{ reply: Reply } | undefined> {
    const known = new Map<string, unknown>();
    let reads: readonly Read[] = [...recordsOf(part), ...wants];
    let version: string | undefined;
    for (;;) {
      const loaded = await backend.load(conversationId, reads, isLarge).catch(asCorrupt);
      // Something has changed between two reads.
      if (version !== undefined && version !== loaded.version) return undefined;
      version = loaded.version;
      reads.forEach((read, at) => known.set(nameOf(read), loaded.replies[at]));
      const sequence = Math.max(loaded.sequence, log.floor);
      const source = new KnownSource(known, { ...loaded, sequence }, backend.keep);
      const tree = new Tree(conversationId, source);
      const decided = tryTo(() => ({ reply: decide(tree.session(part)), writes: tree.writes() }));
      reads = [...source.missing.values()];
      if (reads.length > 0) continue;
      if ('error' in decided) asCorrupt(decided.error);
      const { reply, writes } = decided;
      if (writes.length === 0) return { reply };
      const { sequence: newest, bytes: logBytes } = tree.log;
      const stored = await backend.commit(conversationId, version, {
        writes,
        sequence: newest,
        logBytes,
        isFreeing,
      });
      if (stored === 'stored') return { reply };
      if (stored === 'behind') log.floor = sequence + Math.max(1, sequence - loaded.sequence) * 2;
      return undefined;
    }
  }

  async function decideUntilStored<Reply>(
    at: readonly [string, string],
    decide: (session: Session) => Reply,
    options: Options,
  ): Promise<Reply> {
    const log = { floor: 0 };
    for (let tries = 1; tries <= MOST_TRIES; tries += 1) {
      const done = await attempt(at, decide, options, log);
      if (done !== undefined) return done.reply;
      if (tries >= HASTY_TRIES) await pause(Math.random() * MOST_PAUSE_MS);
    }
    throw new Error('other changes of this conversation were always first');
  }

  return (sessionId, decide, options = {}) => {
    const dot = sessionId.indexOf('.');
    const at =
      dot < 0
        ? ([sessionId, ''] as const)
        : ([sessionId.slice(0, dot), sessionId.slice(dot + 1)] as const);
    if (options.isLarge === true) return decideUntilStored(at, decide, options);
    const before = queues.get(at[0]) ?? Promise.resolve();
    const next = (): Promise<Awaited<ReturnType<typeof decide>>> =>
      decideUntilStored(at, decide, options) as never;
    const own = before.then(next, next);
    queues.set(at[0], own);
    const done = (): void => {
      if (queues.get(at[0]) === own) queues.delete(at[0]);
    };
    own.then(done, done);
    return own;
  };
}

/** Nearly every change looks at the record of its session, and at that of the conversation. */
function recordsOf(part: string): Read[] {
  const own: Read[] = [
    ['field', 'record', part, 'record'],
    ['field', 'record', part, 'live'],
  ];
  return part === ''
    ? own
    : [...own, ['field', 'record', '', 'record'], ['field', 'record', '', 'live']];
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
    { now, sequence, logBytes }: Loaded,
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

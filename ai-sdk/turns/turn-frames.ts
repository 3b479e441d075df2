import type { FinishReason, LogEntry } from '../../protocol/chunk.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { toControlPart } from '../parts/content-parts.js';
import { BROKEN_OFF, SlowReaderError, StreamBrokenError } from '../parts/errors.js';
import { toMessageEvents } from '../parts/message-events.js';
import { SSE_DONE, toFrames } from '../parts/sse.js';
import type { UIMessage } from '../parts/ui-message.js';
import type { UIStreamPart } from '../parts/ui-stream-part.js';
import { replayRange } from './replay-range.js';
import { isBeyond } from './turn-origin.js';
import { isStop, TurnProgress, type TurnReader, type TurnSpan } from './turn-progress.js';

export type LogReader = Pick<StreamManager, 'read' | 'follow'>;

/** Size of the pieces of a replay, in characters: few writes, and a small buffer. */
const REPLAY_CHARS = 32_768;

type Frames = AsyncIterator<string, undefined, undefined>;
type Result = IteratorResult<string, undefined>;

const DONE: Result = { done: true, value: undefined };

/**
 * Iterates over the SSE frames of a turn, one string for the entries that arrived together. Ends
 * early when the signal fires.
 *
 * @throws StreamBrokenError if the reader holds withdrawn parts, or the log breaks off
 */
export function createTurnFrames(
  reader: LogReader,
  span: TurnSpan,
  signal: AbortSignal,
): AsyncIterableIterator<string, undefined, undefined> {
  const progress = new TurnProgress(span);
  const replayed = replayTurn(reader, span, progress, signal);
  let live: Frames | undefined;

  async function replay(): Promise<Result> {
    try {
      const result = await replayed.next();
      if (result.done !== true) return result;
      live = result.value;
    } catch (error) {
      throw signal.aborted ? error : toBroken(error, progress.position);
    }
    return live === undefined ? DONE : live.next();
  }

  return {
    // No generator: its promises for each chunk would take longer than the chunk itself.
    next: () => (live === undefined ? replay() : live.next()),
    return: async () => {
      await replayed.return(undefined);
      await live?.return?.();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Yields the part of the turn that the log already has. Returns what follows, if the turn is active. */
async function* replayTurn(
  reader: LogReader,
  span: TurnSpan,
  progress: TurnProgress,
  signal: AbortSignal,
): AsyncGenerator<string, Frames | undefined, undefined> {
  const { sessionId, until, stored, seenUpTo = span.from } = span;
  if (stored !== undefined) progress.write(toMessageEvents(stored.message, span.profile));
  yield progress.take();

  for await (const entries of replayRange(reader, sessionId, span.from, seenUpTo)) {
    if (signal.aborted) return undefined;
    await progress.judge(entries);
    progress.skip(entries);
  }
  if (span.seenUpTo !== undefined) progress.write(progress.reopen());

  const known = until.kind === 'live' ? until.after : until.upTo;
  for await (const entries of replayRange(reader, sessionId, seenUpTo, known)) {
    if (signal.aborted) return undefined;
    await progress.judge(entries);
    progress.accept(stored === undefined ? entries : entries.filter((e) => isBeyond(stored, e)));
    if (progress.size >= REPLAY_CHARS) yield progress.take();
  }
  progress.reach(known);
  if (signal.aborted) return undefined;
  if (until.kind === 'live') return join(reader, span, progress, signal);
  yield progress.finish();
  return undefined;
}

/**
 * A slow viewer's connection is cut when more than this waits for it, in characters. Calls of a step
 * may bring 1 MB each at the same time, which is no viewer's fault.
 */
const MAX_WAITING = 4 * 1024 * 1024;

/** The end of a turn; `error` is set if it broke off. */
interface End {
  error?: unknown;
}

interface Seat {
  waiting: string;
  isBehind: boolean;
  wake: (() => void) | undefined;
}

/**
 * An active turn, transformed and framed once for all viewers. Follows the log while it has one.
 */
class LiveTurn {
  readonly #progress: TurnProgress;
  readonly #seats = new Set<Seat>();
  readonly #leave = new AbortController();
  readonly #onOver: () => void;
  /** Entries that viewers have not been given yet. */
  #arrived: LogEntry[] = [];
  #over: End | undefined;

  constructor(
    reader: Pick<LogReader, 'follow'>,
    sessionId: string,
    progress: TurnProgress,
    onOver: () => void,
  ) {
    this.#progress = progress;
    this.#onOver = onOver;
    void this.#run(reader, sessionId);
  }

  get position(): number {
    return this.#progress.position;
  }

  /** Returns true if a viewer with this progress can get the rest from this turn. */
  isAt(progress: TurnProgress): boolean {
    if (this.#progress === progress) return true;
    if (progress.position !== this.position) return false;
    return JSON.stringify(progress.reopen()) === JSON.stringify(this.#progress.reopen());
  }

  /** Adds a viewer, which gets the rest of its replay and then what arrives. */
  enter(signal: AbortSignal, rest: string): Frames {
    const seat: Seat = { waiting: rest, isBehind: false, wake: undefined };
    const wake = (): void => seat.wake?.();
    const leave = (error?: Error): Promise<Result> => {
      signal.removeEventListener('abort', wake);
      this.#seats.delete(seat);
      if (this.#seats.size === 0) this.#end({});
      return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
    };
    /** Returns undefined while nothing has arrived. */
    const take = (): Result | Promise<Result> | undefined => {
      if (signal.aborted || !this.#seats.has(seat)) return leave();
      if (seat.isBehind) return leave(new SlowReaderError());
      const text = seat.waiting;
      seat.waiting = '';
      if (text !== '') return { done: false, value: text };
      if (this.#over === undefined) return undefined;
      return leave('error' in this.#over ? toBroken(this.#over.error, this.position) : undefined);
    };
    signal.addEventListener('abort', wake);
    this.#seats.add(seat);
    return {
      next: () =>
        new Promise((resolve) => {
          seat.wake = () => {
            const result = take();
            if (result === undefined) return;
            seat.wake = undefined;
            resolve(result);
          };
          seat.wake();
        }),
      return: () => {
        const left = leave();
        // This ends a pending `next`.
        wake();
        return left;
      },
    };
  }

  async #run(reader: Pick<LogReader, 'follow'>, sessionId: string): Promise<void> {
    const { signal } = this.#leave;
    try {
      for await (const entries of reader.follow(sessionId, this.position, signal)) {
        const stop = entries.findIndex(({ message }) => isStop(sessionId, message));
        const taken = stop < 0 ? entries : entries.slice(0, stop + 1);
        const judging = this.#progress.judge(taken);
        if (judging !== undefined) await judging;
        // Entries that arrive in one turn of the event loop are framed and written together.
        if (this.#arrived.length === 0 && arriving.push(this) === 1) setImmediate(sendArrived);
        this.#arrived.push(...taken);
        if (stop < 0) continue;
        // This sends at once: a viewer that joined behind the stop would wait for the next stop.
        this.send({});
        return;
      }
      throw new StreamBrokenError('the log broke off');
    } catch (error) {
      this.send({ error });
    }
  }

  /** Gives viewers the entries that have arrived; `end` says that none follow. */
  send(end?: End): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    if (this.#over !== undefined) return;
    let over = end;
    try {
      this.#progress.accept(arrived);
    } catch (error) {
      over = { error };
    }
    const isComplete = over !== undefined && !('error' in over);
    this.#give(isComplete ? this.#progress.finish() : this.#progress.take());
    if (over !== undefined) this.#end(over);
  }

  #give(text: string): void {
    if (text === '') return;
    for (const seat of this.#seats) {
      seat.isBehind ||= seat.waiting.length > MAX_WAITING;
      seat.waiting = seat.isBehind ? '' : seat.waiting + text;
      seat.wake?.();
    }
  }

  #end(over: End): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#leave.abort();
    this.#onOver();
    for (const seat of this.#seats) seat.wake?.();
  }
}

/** Turns with entries that arrived in this turn of the event loop. */
let arriving: LiveTurn[] = [];

function sendArrived(): void {
  const turns = arriving;
  arriving = [];
  for (const turn of turns) turn.send();
}

/** Followed turns, by the fields that their viewers share. */
const liveTurns = new WeakMap<LogReader, Map<string, LiveTurn>>();

/** A viewer that cannot catch up with a fast turn follows it alone after this many tries. */
const MAX_TRIES = 10;

/** Brings a viewer to the position at which others follow the turn, or lets it follow alone. */
async function join(
  reader: LogReader,
  span: TurnSpan,
  progress: TurnProgress,
  signal: AbortSignal,
): Promise<Frames> {
  const { sessionId, from, isTail, profile, toolParts, showsSubAgents, viewer } = span;
  const turns = liveTurns.get(reader) ?? new Map<string, LiveTurn>();
  liveTurns.set(reader, turns);
  const key = [sessionId, from, isTail, profile, toolParts, showsSubAgents, viewer?.key].join(' ');
  for (let tries = 0; ; tries += 1) {
    // A viewer of stored steps has read less of the log than others at the same position.
    const shared = span.stored === undefined ? turns.get(key) : undefined;
    shared?.send();
    if (shared !== undefined && shared.position > progress.position && tries < MAX_TRIES) {
      const { position } = shared;
      for await (const entries of replayRange(reader, sessionId, progress.position, position)) {
        await progress.judge(entries);
        progress.accept(entries);
      }
      progress.reach(position);
      continue;
    }
    const rest = progress.take();
    if (shared?.isAt(progress) === true) return shared.enter(signal, rest);
    const own = new LiveTurn(reader, sessionId, progress, () => {
      if (turns.get(key) === own) turns.delete(key);
    });
    if (shared === undefined && span.stored === undefined) turns.set(key, own);
    return own.enter(signal, rest);
  }
}

/** Yields the SSE frames that build a stored message, for turns at rest whose chunks are gone. */
export async function* createMessageFrames(
  message: UIMessage,
  record: SessionRecord,
  { profile, toolParts }: TurnReader,
): AsyncGenerator<string, void, undefined> {
  const to = (events: UIStreamPart[], sequence?: number): string =>
    toFrames(events, { sequence, toolParts });
  const { stream, error } = record;
  const text = [
    to([{ type: 'start', messageId: message.id }]),
    to(toMessageEvents(message, profile), record.sequence),
    stream === 'failed' && error !== undefined
      ? to([{ type: 'error', errorText: error.message }])
      : '',
    to([{ type: 'finish', finishReason: toFinishReason(record) }]),
    SSE_DONE,
  ].join('');
  yield await Promise.resolve(text);
}

function toFinishReason({ stream, status }: SessionRecord): FinishReason {
  if (stream === 'paused') return 'tool-calls';
  if (stream === 'failed') return 'error';
  return status === 'interrupted' ? 'other' : 'stop';
}

/**
 * Returns the error with its last parts: `data-stream-resync`, which makes pages reload at once,
 * and `error`, since stock clients treat a reply that merely ends as complete. Neither has an id,
 * since no reader may resume after it.
 */
export function toBroken(error: unknown, position: number): StreamBrokenError {
  const [known, cause] =
    error instanceof StreamBrokenError ? [error, error.cause] : [undefined, error];
  const { message = 'the log cannot be followed', parts = [] } = known ?? {};
  const hasResync = parts.some(({ type }) => type === 'data-stream-resync');
  const last = [...parts, ...(hasResync ? [] : [toResync(position)])];
  const told: UIStreamPart[] = [...last, { type: 'error', errorText: BROKEN_OFF }];
  return new StreamBrokenError(message, told, { cause });
}

/** Makes the resync part of a reply that breaks off without a resync in the log. */
function toResync(fromSequence: number): UIStreamPart {
  const base = { agentId: '', agentType: '', timestamp: 0, step: 0 };
  const nothing = { checkpointId: '', stepCount: 0, messageCount: 0 };
  const resync = { ...base, ...nothing, fromSequence, reason: 'crash_recovery' } as const;
  return toControlPart({ type: 'stream_resync', ...resync });
}

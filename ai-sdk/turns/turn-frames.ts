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

/**
 * Yields the SSE frames of a turn, one string for the entries that arrived together. Returns early
 * when the signal fires.
 *
 * @throws StreamBrokenError if the reader holds withdrawn parts, or the log breaks off
 */
export async function* createTurnFrames(
  reader: LogReader,
  span: TurnSpan,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const progress = new TurnProgress(span);
  try {
    yield* replayTurn(reader, span, progress, signal);
    if (span.until.kind === 'stored' || signal.aborted) return;
    // This loop has no generator of its own: each would add promises to every chunk.
    const viewer = await join(reader, span, progress, signal);
    try {
      // The rest of the replay is sent before the turn's new frames.
      if (viewer.rest !== '') yield viewer.rest;
      for (let text = await viewer.next(); text !== undefined; text = await viewer.next()) {
        yield text;
      }
    } finally {
      viewer.leave();
    }
  } catch (error) {
    throw signal.aborted ? error : toBroken(error, progress.position);
  }
}

/** Yields the part of the turn that the log already has. */
async function* replayTurn(
  reader: LogReader,
  span: TurnSpan,
  progress: TurnProgress,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const { sessionId, until, stored, seenUpTo = span.from } = span;
  if (stored !== undefined) progress.write(toMessageEvents(stored.message, span.profile));
  yield progress.take();

  for await (const entries of replayRange(reader, sessionId, span.from, seenUpTo)) {
    if (signal.aborted) return;
    await progress.judge(entries);
    progress.skip(entries);
  }
  if (span.seenUpTo !== undefined) progress.write(progress.reopen());

  const known = until.kind === 'live' ? until.after : until.upTo;
  for await (const entries of replayRange(reader, sessionId, seenUpTo, known)) {
    if (signal.aborted) return;
    await progress.judge(entries);
    progress.accept(stored === undefined ? entries : entries.filter((e) => isBeyond(stored, e)));
    if (progress.size >= REPLAY_CHARS) yield progress.take();
  }
  progress.reach(known);
  if (until.kind === 'stored' && !signal.aborted) yield progress.finish();
}

/**
 * A slow viewer's connection is cut when more than this waits for it, in characters. Calls of a step
 * may bring 1 MB each at the same time, which is no viewer's fault.
 */
const MOST_WAITING = 4 * 1024 * 1024;

interface LiveViewer {
  /** Returns the frames since the last call; undefined once the turn stops or the signal fires. */
  next: () => Promise<string | undefined>;
  leave: () => void;
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
  #over: { error?: unknown } | undefined;

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

  /** Adds a viewer from now on. `next` throws StreamBrokenError and errors of the log. */
  enter(signal: AbortSignal): LiveViewer {
    const seat: Seat = { waiting: '', isBehind: false, wake: undefined };
    const wake = (): void => seat.wake?.();
    signal.addEventListener('abort', wake);
    this.#seats.add(seat);
    return {
      next: async () => {
        for (;;) {
          if (signal.aborted) return undefined;
          if (seat.isBehind) throw new SlowReaderError();
          const text = seat.waiting;
          seat.waiting = '';
          if (text !== '') return text;
          if (this.#over !== undefined) {
            if ('error' in this.#over) throw this.#over.error;
            return undefined;
          }
          await new Promise<void>((resolve) => (seat.wake = resolve));
        }
      },
      leave: () => {
        signal.removeEventListener('abort', wake);
        this.#seats.delete(seat);
        if (this.#seats.size === 0) this.#end({});
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
        this.send();
        if (this.#over === undefined) this.#give(this.#progress.finish());
        this.#end({});
        return;
      }
      if (!signal.aborted) throw new StreamBrokenError('the log broke off');
      this.#end({});
    } catch (error) {
      this.send();
      this.#end({ error });
    }
  }

  /** Gives viewers the entries that have arrived. */
  send(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    if (arrived.length === 0 || this.#over !== undefined) return;
    let over: { error: unknown } | undefined;
    try {
      this.#progress.accept(arrived);
    } catch (error) {
      over = { error };
    }
    this.#give(this.#progress.take());
    if (over !== undefined) this.#end(over);
  }

  #give(text: string): void {
    if (text === '') return;
    for (const seat of this.#seats) {
      seat.isBehind ||= seat.waiting.length > MOST_WAITING;
      seat.waiting = seat.isBehind ? '' : seat.waiting + text;
      seat.wake?.();
    }
  }

  #end(over: { error?: unknown }): void {
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
const MOST_TRIES = 10;

/** Brings a viewer to the position at which others follow the turn, or lets it follow alone. */
async function join(
  reader: LogReader,
  span: TurnSpan,
  progress: TurnProgress,
  signal: AbortSignal,
): Promise<LiveViewer & { rest: string }> {
  const { sessionId, from, isTail, profile, toolParts, showsSubAgents, viewer } = span;
  const turns = liveTurns.get(reader) ?? new Map<string, LiveTurn>();
  liveTurns.set(reader, turns);
  const key = [sessionId, from, isTail, profile, toolParts, showsSubAgents, viewer?.key].join(' ');
  for (let tries = 0; ; tries += 1) {
    // A viewer of stored steps has read less of the log than others at the same position.
    const shared = span.stored === undefined ? turns.get(key) : undefined;
    shared?.send();
    if (shared !== undefined && shared.position > progress.position && tries < MOST_TRIES) {
      const { position } = shared;
      for await (const entries of replayRange(reader, sessionId, progress.position, position)) {
        await progress.judge(entries);
        progress.accept(entries);
      }
      progress.reach(position);
      continue;
    }
    const rest = progress.take();
    if (shared?.isAt(progress) === true) return { ...shared.enter(signal), rest };
    const own = new LiveTurn(reader, sessionId, progress, () => {
      if (turns.get(key) === own) turns.delete(key);
    });
    if (shared === undefined && span.stored === undefined) turns.set(key, own);
    return { ...own.enter(signal), rest };
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
export function toBroken(error: unknown, position: number): unknown {
  if (error instanceof SlowReaderError) return error;
  const [known, cause] =
    error instanceof StreamBrokenError ? [error, error.cause] : [undefined, error];
  const { message = 'the log cannot be followed', parts = [] } = known ?? {};
  const hasResync = parts.some(({ type }) => type === 'data-stream-resync');
  const last = [...parts, ...(hasResync ? [] : [toResync(position)])];
  const told: UIStreamPart[] = [...last, { type: 'error', errorText: BROKEN_OFF }];
  return new StreamBrokenError(message, told, { cause });
}

/** Makes the resync part for a reply that breaks off without such an entry in the log. */
function toResync(fromSequence: number): UIStreamPart {
  const base = { agentId: '', agentType: '', timestamp: 0, step: 0 };
  const nothing = { checkpointId: '', stepCount: 0, messageCount: 0 };
  const resync = { ...base, ...nothing, fromSequence, reason: 'crash_recovery' } as const;
  return toControlPart({ type: 'stream_resync', ...resync });
}

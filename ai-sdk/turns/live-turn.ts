import type { StreamManager } from '../../stores/log/stream-manager.js';
import { SlowReaderError, StreamBrokenError } from '../parts/errors.js';
import { isStop, type TurnProgress } from './turn-progress.js';

/** A slow viewer is cut when this much waits for it, in characters. */
const MOST_WAITING = 1024 * 1024;

/** A reader of a turn's frames. */
export interface LiveViewer {
  /** The frames since the last call; undefined when the turn has stopped or the signal fires. */
  next: () => Promise<string | undefined>;
  leave: () => void;
}

interface Seat {
  waiting: string;
  isBehind: boolean;
  wake: (() => void) | undefined;
}

/**
 * An active turn from some position on. Its chunks are transformed and framed once for all viewers;
 * the log is followed as long as there is a viewer.
 */
export class LiveTurn {
  readonly #progress: TurnProgress;
  readonly #seats = new Set<Seat>();
  readonly #leave = new AbortController();
  readonly #onOver: () => void;
  #over: { error?: unknown } | undefined;
  #isWaking = false;

  constructor(
    reader: Pick<StreamManager, 'follow'>,
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

  /** True if a viewer with this progress may get the rest from this turn. */
  isAt(progress: TurnProgress): boolean {
    if (this.#progress === progress) return true;
    if (progress.position !== this.position) return false;
    return JSON.stringify(progress.reopen()) === JSON.stringify(this.#progress.reopen());
  }

  /** The frames from now on. `next` throws StreamBrokenError, and the errors of following the log. */
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

  async #run(reader: Pick<StreamManager, 'follow'>, sessionId: string): Promise<void> {
    const { signal } = this.#leave;
    try {
      for await (const entries of reader.follow(sessionId, this.position, signal)) {
        const stop = entries.findIndex(({ message }) => isStop(sessionId, message));
        const taken = stop < 0 ? entries : entries.slice(0, stop + 1);
        const judging = this.#progress.judge(taken);
        if (judging !== undefined) await judging;
        this.#progress.accept(taken);
        this.#send(this.#progress.take());
        if (stop < 0) continue;
        // At once: a viewer that joined behind the stop would wait for another one.
        this.#send(this.#progress.finish());
        this.#end({});
        return;
      }
      if (!signal.aborted) throw new StreamBrokenError('the log broke off');
      this.#end({});
    } catch (error) {
      this.#end({ error });
    }
  }

  #send(text: string): void {
    if (text === '') return;
    for (const seat of this.#seats) {
      seat.isBehind ||= seat.waiting.length > MOST_WAITING;
      if (!seat.isBehind) seat.waiting += text;
    }
    // What else arrives in this turn of the event loop goes into the same write to each viewer.
    if (this.#isWaking) return;
    this.#isWaking = true;
    if (waking.push(this) === 1) setImmediate(wakeTurns);
  }

  /** Gives the viewers what was sent. */
  wake(): void {
    this.#isWaking = false;
    this.#wake();
  }

  #wake(): void {
    for (const seat of this.#seats) seat.wake?.();
  }

  #end(over: { error?: unknown }): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#leave.abort();
    this.#onOver();
    this.#wake();
  }
}

/** Turns with new frames in this turn of the event loop: one call wakes the viewers of all of them. */
let waking: LiveTurn[] = [];

function wakeTurns(): void {
  const turns = waking;
  waking = [];
  for (const turn of turns) turn.wake();
}

import type { ChunkOf, LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { mergeDeltas } from '../../protocol/combine-streams.js';
import { toControlPart } from '../parts/content-parts.js';
import { StreamBrokenError } from '../parts/errors.js';
import { SSE_DONE, toFrames } from '../parts/sse.js';
import type { ToolParts } from '../parts/static-parts.js';
import { StreamTransformer } from '../parts/stream-transformer.js';
import type { StreamProfile, UIStreamPart } from '../parts/ui-stream-part.js';
import type { StoredSteps } from './turn-origin.js';

type Question = ChunkOf<'tool_approval_request'>;

/** The person for whom a turn is read. */
export interface Viewer {
  /** The same for viewers who may decide the same, so that they can share a turn's frames. */
  key: string;
  /** False for questions that everyone may answer who can read them. */
  judges: (question: Question) => boolean;
  /** Whether the viewer's approval would be taken. */
  mayDecide: (question: Question) => Promise<boolean>;
}

/** The questions among the entries that have to be judged for this viewer; mostly none. */
export function toJudged(viewer: Viewer, entries: readonly LogEntry[]): Question[] {
  const found: Question[] = [];
  for (const { message } of entries) {
    if (message.type !== 'tool_approval_request' || message.isAutomatic === true) continue;
    if (viewer.judges(message)) found.push(message);
  }
  return found;
}

/** How much of a turn a viewer has, or several viewers that have the same. */
export class TurnProgress {
  readonly #transformer: StreamTransformer;
  readonly #toolParts: ToolParts | undefined;
  readonly #attachedAt: number;
  readonly #sessionId: string;
  readonly #viewer: Viewer | undefined;
  /** Calls that the viewer may not decide. */
  readonly #withheld: Set<string>;
  #position: number;
  #text = '';

  constructor(span: TurnSpan) {
    this.#toolParts = span.toolParts;
    this.#viewer = span.viewer;
    this.#withheld = new Set(span.withheld);
    this.#position = span.from;
    this.#sessionId = span.sessionId;
    this.#attachedAt = span.until.kind === 'live' ? span.until.after : span.until.upTo;
    this.#transformer = new StreamTransformer({
      generateMessageId: () => span.messageId,
      agentId: span.sessionId,
      profile: span.profile,
      subAgents: span.showsSubAgents === true ? (span.subAgents ?? new Map()) : undefined,
      isTail: span.isTail,
      isAnswered: (toolCallId) => isAnswered(span, toolCallId, this.#position),
      isWithheld: (toolCallId) => this.#withheld.has(toolCallId),
    });
    this.write(this.#transformer.start());
  }

  /** Sequence up to which entries were accepted. */
  get position(): number {
    return this.#position;
  }

  /** Length of the waiting text, in characters. */
  get size(): number {
    return this.#text.length;
  }

  /**
   * Finds out which questions among the entries are not the viewer's to decide; to be awaited before
   * they are accepted. Undefined if there is nothing to find out.
   */
  judge(entries: readonly LogEntry[]): Promise<unknown> | undefined {
    const viewer = this.#viewer;
    const questions = viewer === undefined ? [] : toJudged(viewer, entries);
    if (viewer === undefined || questions.length === 0) return undefined;
    return Promise.all(
      questions.map(async (question) => {
        if (!(await viewer.mayDecide(question))) this.#withheld.add(question.toolCallId);
      }),
    );
  }

  /**
   * Adjacent deltas of a block become one event.
   *
   * @throws StreamBrokenError when parts that were sent are withdrawn
   */
  accept(entries: readonly LogEntry[]): void {
    for (const entry of entries.length > 1 ? mergeDeltas(entries) : entries) {
      this.#position = entry.sequence;
      // What was removed before the viewer joined was never sent to it.
      if (entry.message.type === 'stream_truncated' && entry.sequence <= this.#attachedAt) continue;
      const { events, sequence, mustCut } = this.#transformer.transform(entry);
      if (mustCut) {
        throw new StreamBrokenError('an attempt was withdrawn', toNotice(events, entries));
      }
      // `finish` sends the id of a stop: a reader that has the id has the last frames, too.
      this.write(events, isStop(this.#sessionId, entry.message) ? undefined : sequence);
    }
  }

  /** Accepts entries that the viewer has already. */
  skip(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.#position = entry.sequence;
      this.#transformer.transform(entry);
    }
  }

  /** Nothing is left in the log up to here, whatever gaps it ends with. */
  reach(position: number): void {
    this.#position = Math.max(this.#position, position);
  }

  /** @param sequence the position from which a reader resumes once it has all of the events */
  write(events: UIStreamPart[], sequence?: number): void {
    this.#text += toFrames(events, { sequence, toolParts: this.#toolParts });
  }

  /** The parts that announce what is open, for a viewer that joins here. */
  reopen(): UIStreamPart[] {
    return this.#transformer.reopen();
  }

  /** The frames so far; empty afterwards. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** The last frames. They have an id as well: a browser's EventSource reconnects after every end. */
  finish(): string {
    this.write(this.#transformer.finalize().events, this.#position);
    return this.take() + SSE_DONE;
  }
}

/** The parts of a withdrawal, and the entry with its position; the two are written together. */
function toNotice(events: UIStreamPart[], entries: readonly LogEntry[]): UIStreamPart[] {
  const control = events.filter(({ type }) => type.startsWith('data-'));
  if (control.some(({ type }) => type === 'data-stream-resync')) return control;
  const resync = entries.findLast(({ message }) => message.type === 'stream_resync')?.message;
  return resync?.type === 'stream_resync' ? [...control, toControlPart(resync)] : control;
}

/** True where a live reader stops: at a pause, an end or another turn, never by a status field. */
export function isStop(sessionId: string, message: StreamMessage): boolean {
  if (message.type === 'stream_end') return true;
  if (message.type !== 'run_paused' && message.type !== 'turn_started') return false;
  return message.agentId === sessionId;
}

function isAnswered(span: TurnSpan, toolCallId: string, position: number): boolean {
  if (span.waiting === undefined || position > span.waiting.asOf) return false;
  return !span.waiting.calls.has(toolCallId);
}

/** Which part of a turn a response carries. */
export interface TurnSpan {
  sessionId: string;
  /** Id of the assistant message. */
  messageId: string;
  /** Sequence before the first entry. */
  from: number;
  /**
   * `live`: on until the first pause or end beyond `after`.
   * `stored`: up to and including `upTo`, which the log has already.
   */
  until: { kind: 'live'; after: number } | { kind: 'stored'; upTo: number };
  /** True if the client has the message up to `from`. */
  isTail: boolean;
  /** The client has everything up to here; only what it needs to continue is sent again. */
  seenUpTo?: number;
  /** Steps that are sent from their rows, before the log. */
  stored?: StoredSteps;
  /** Calls that wait for an approval at sequence `asOf`; earlier requests for others are left out. */
  waiting?: { calls: ReadonlySet<string>; asOf: number };
  /** Calls that the viewer may not decide, as far as they are known. */
  withheld?: ReadonlySet<string>;
  /** For whom the turn is read. Default: a viewer who may decide everything. */
  viewer?: Viewer;
  profile: StreamProfile;
  /** Default: dynamic ones. */
  toolParts?: ToolParts;
  /** The viewer wants to see what sub-agents do. */
  showsSubAgents?: boolean;
  /** Calls that sub-agents carry out, by the sessions of those. */
  subAgents?: ReadonlyMap<string, string>;
}

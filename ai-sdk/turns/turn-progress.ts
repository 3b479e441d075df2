import type { ChunkOf, LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { mergeDeltas } from '../../protocol/combine-streams.js';
import { sessionOfRun } from '../../protocol/ids.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SessionCalls } from '../../store/contract/sessions.js';
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
  /** Equal for viewers with the same permissions, so that they share a turn's frames. */
  key: string;
  /** Returns false for questions that every reader may answer. */
  judges: (question: Question) => boolean;
  /** Returns true if the viewer's approval would be taken. */
  mayDecide: (question: Question) => Promise<boolean>;
}

/** Returns the questions that must be judged for this viewer; usually none. */
export function toJudged(viewer: Viewer, entries: readonly LogEntry[]): Question[] {
  const found: Question[] = [];
  for (const { message } of entries) {
    if (message.type !== 'tool_approval_request' || message.isAutomatic === true) continue;
    if (viewer.judges(message)) found.push(message);
  }
  return found;
}

/** Progress of one viewer in a turn, or of several viewers with the same entries. */
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
    this.#transformer = createTransformer(span, () => this.#position, this.#withheld);
    this.write(this.#transformer.start());
  }

  get position(): number {
    return this.#position;
  }

  /** Length of the pending text, in characters. */
  get size(): number {
    return this.#text.length;
  }

  /** Finds withheld questions; await it before `accept`. Undefined if none needs judging. */
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
   * Adds the entries' frames to the text. Adjacent deltas of a block become one event.
   *
   * @throws StreamBrokenError if parts that were sent are withdrawn
   */
  accept(entries: readonly LogEntry[]): void {
    for (const entry of entries.length > 1 ? mergeDeltas(entries) : entries) {
      this.#position = entry.sequence;
      // Entries removed before the viewer joined were never sent to it.
      if (entry.message.type === 'stream_truncated' && entry.sequence <= this.#attachedAt) continue;
      const { events, sequence, mustCut } = this.#transformer.transform(entry);
      if (mustCut) {
        throw new StreamBrokenError('an attempt was withdrawn', toNotice(events, entries));
      }
      // `finish` sends a stop's id, so a reader that has the id also has the last frames.
      this.write(events, isStop(this.#sessionId, entry.message) ? undefined : sequence);
    }
  }

  /** Passes over entries that the viewer already has. */
  skip(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.#position = entry.sequence;
      this.#transformer.transform(entry);
    }
  }

  /** Moves the position past a gap at the end of a range that was read completely. */
  reach(position: number): void {
    this.#position = Math.max(this.#position, position);
  }

  /** @param sequence the position from which a reader resumes once it has all of the events */
  write(events: UIStreamPart[], sequence?: number): void {
    this.#text += toFrames(events, { sequence, toolParts: this.#toolParts });
  }

  /** Returns the parts that announce open steps, blocks and calls to a viewer that joins here. */
  reopen(): UIStreamPart[] {
    return this.#transformer.reopen();
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  /** Returns the last frames, with an id: a browser's EventSource reconnects after every end. */
  finish(): string {
    this.write(this.#transformer.finalize().events, this.#position);
    return this.take() + SSE_DONE;
  }
}

/** Returns the control parts of a withdrawal with its resync; both entries are written together. */
function toNotice(events: UIStreamPart[], entries: readonly LogEntry[]): UIStreamPart[] {
  const control = events.filter(({ type }) => type.startsWith('data-'));
  if (control.some(({ type }) => type === 'data-stream-resync')) return control;
  const resync = entries.findLast(({ message }) => message.type === 'stream_resync')?.message;
  return resync?.type === 'stream_resync' ? [...control, toControlPart(resync)] : control;
}

/** Returns true where live readers stop: at a pause, an end or another turn, never at a status. */
export function isStop(sessionId: string, message: StreamMessage): boolean {
  if (message.type === 'stream_end') return true;
  if (message.type !== 'run_paused' && message.type !== 'turn_started') return false;
  return message.agentId === sessionId;
}

export function createTransformer(
  span: TurnSpan,
  positionOf = (): number => span.from,
  withheld = span.withheld,
): StreamTransformer {
  const { waiting } = span;
  return new StreamTransformer({
    generateMessageId: () => span.messageId,
    agentId: span.sessionId,
    profile: span.profile,
    subAgents: span.showsSubAgents === true ? (span.subAgents ?? new Map()) : undefined,
    isTail: span.isTail,
    denied: span.denied,
    isAnswered: (toolCallId) =>
      waiting !== undefined && positionOf() <= waiting.asOf && !waiting.calls.has(toolCallId),
    isWithheld: (toolCallId) => withheld?.has(toolCallId) === true,
  });
}

/** Returns the span of the whole newest turn, as far as it is known. */
export function toTurnSpan({ record, openCalls }: SessionCalls, reader: TurnReader): TurnSpan {
  const { sessionId, messageId, sequence, turnStartSequence: from, stream } = record;
  const idsOf = (is: (call: OpenCall) => boolean): Set<string> =>
    new Set(openCalls.filter(is).map(({ spec }) => spec.toolCallId));
  const isAsking = openCalls.some(({ state }) => state === 'waiting');
  return {
    sessionId,
    messageId,
    from,
    until:
      stream === 'active' ? { kind: 'live', after: sequence } : { kind: 'stored', upTo: sequence },
    isTail: false,
    waiting: { calls: idsOf((call) => isAsking && !isExecuted(call)), asOf: sequence },
    withheld: idsOf(({ mayDecide }) => mayDecide === false),
    subAgents: toSubAgents(openCalls),
    ...reader,
  };
}

/** Returns false for a question, open or answered, whose call takes no effect before the other answers. */
function isExecuted({ state, row }: OpenCall): boolean {
  if (row?.role === 'tool') return row.denied !== true;
  return state !== 'waiting' && state !== 'approved';
}

/** Maps sub-agents' sessions at any depth to the calls; a tail lacks their announcements. */
function toSubAgents(openCalls: readonly OpenCall[]): ReadonlyMap<string, string> {
  const calls = new Map(
    openCalls.flatMap(({ spec }) =>
      spec.child === undefined ? [] : [[spec.child.sessionId, spec] as const],
    ),
  );
  const topCallOf = ({ runId, toolCallId }: CallSpec): string => {
    const above = calls.get(sessionOfRun(runId));
    return above === undefined ? toolCallId : topCallOf(above);
  };
  return new Map([...calls].map(([sessionId, spec]) => [sessionId, topCallOf(spec)]));
}

export interface TurnReader {
  profile: StreamProfile;
  /** Default: `dynamic`. */
  toolParts?: ToolParts;
  /** True if the reader wants to see what sub-agents do. */
  showsSubAgents?: boolean;
  /** Default: a viewer who may decide everything. */
  viewer?: Viewer;
}

export interface TurnSpan extends TurnReader {
  sessionId: string;
  messageId: string;
  /** Sequence before the first entry. */
  from: number;
  /**
   * `live`: continues to the first pause or end beyond `after`.
   * `stored`: ends with `upTo`, which the log already has.
   */
  until: { kind: 'live'; after: number } | { kind: 'stored'; upTo: number };
  /** True if the client has the message up to `from`. */
  isTail: boolean;
  /** Calls that were denied before a tail and that the client does not show as denied. */
  denied?: ReadonlySet<string>;
  /** The client has everything up to here; the response repeats only what it needs to continue. */
  seenUpTo?: number;
  /** Steps that are sent from their rows before the log. */
  stored?: StoredSteps;
  /**
   * Questions at sequence `asOf`, with those that are answered beside them: a stock page sends no answers beside a call
   * that it neither was asked about nor has a result of. Other earlier requests are left out.
   */
  waiting?: { calls: ReadonlySet<string>; asOf: number };
  /** Calls known to be withheld from the viewer. */
  withheld?: ReadonlySet<string>;
  /** Calls that sub-agents carry out, by the sub-agent's session. */
  subAgents?: ReadonlyMap<string, string>;
}

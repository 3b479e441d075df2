import type { FinishReason } from '../../protocol/chunk.js';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { toControlPart } from '../parts/content-parts.js';
import { BROKEN_OFF, SlowReaderError, StreamBrokenError } from '../parts/errors.js';
import { toMessageEvents } from '../parts/message-events.js';
import { FrameWriter, SSE_DONE } from '../parts/sse.js';
import type { ToolParts } from '../parts/static-parts.js';
import type { UIMessage } from '../parts/ui-message.js';
import type { StreamProfile, UIStreamPart } from '../parts/ui-stream-part.js';
import { LiveTurn, type LiveViewer } from './live-turn.js';
import { replayRange } from './replay-range.js';
import { isBeyond } from './turn-origin.js';
import { TurnProgress, type TurnSpan } from './turn-progress.js';

/** The reading half of a log. */
export type LogReader = Pick<StreamManager, 'read' | 'follow'>;

/** A replay is sent in pieces of about this size: few writes, and a small buffer. */
const REPLAY_CHARS = 32_768;

/**
 * The SSE frames of a turn: one string for the entries that arrived together. Returns early when the
 * signal fires.
 *
 * @throws StreamBrokenError when the reader holds parts that were withdrawn, or the log breaks off
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
    // Not in a generator of its own: each would add promises to each chunk.
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

/** The turn as far as the log has it. */
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

/** Turns that are being followed, by the fields that their viewers share. */
const liveTurns = new WeakMap<LogReader, Map<string, LiveTurn>>();

/** After so many tries a viewer follows a fast turn on its own. */
const MOST_TRIES = 10;

/** Brings a viewer to where others follow the turn, or lets it follow alone. */
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
    // A viewer of stored steps has had less of the log than others at the same place.
    const shared = span.stored === undefined ? turns.get(key) : undefined;
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

/** The SSE frames that build a stored message in a client; for turns at rest whose chunks are gone. */
export async function* createMessageFrames(
  message: UIMessage,
  record: SessionRecord,
  { profile, toolParts }: { profile: StreamProfile; toolParts?: ToolParts },
): AsyncGenerator<string, void, undefined> {
  const writer = new FrameWriter(toolParts);
  writer.add({ events: [{ type: 'start', messageId: message.id }] });
  writer.add({ events: toMessageEvents(message, profile), sequence: record.sequence });
  if (record.stream === 'failed' && record.error !== undefined) {
    writer.add({ events: [{ type: 'error', errorText: record.error.message }] });
  }
  writer.add({ events: [{ type: 'finish', finishReason: toFinishReason(record) }] });
  yield await Promise.resolve(writer.take() + SSE_DONE);
}

function toFinishReason({ stream, status }: SessionRecord): FinishReason {
  if (stream === 'paused') return 'tool-calls';
  if (stream === 'failed') return 'error';
  return status === 'interrupted' ? 'other' : 'stop';
}

/**
 * The error with what its reader is told: `data-stream-resync`, after which pages load the
 * conversation again at once, and an `error`, since stock clients take a reply that just ends for a
 * whole one. Neither has an id: it is no place to resume after.
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

/** For replies that break off without such an entry in the log. */
function toResync(fromSequence: number): UIStreamPart {
  const base = { agentId: '', agentType: '', timestamp: 0, step: 0 };
  const nothing = { checkpointId: '', stepCount: 0, messageCount: 0 };
  const resync = { ...base, ...nothing, fromSequence, reason: 'crash_recovery' } as const;
  return toControlPart({ type: 'stream_resync', ...resync });
}

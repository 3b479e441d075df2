import { HEADERS } from '../../protocol/ids.js';
import type { SessionRecord, SessionView } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { toToolParts } from '../parts/static-parts.js';
import { toStreamProfile } from '../parts/ui-stream-part.js';
import { replayRange } from '../turns/replay-range.js';
import { createMessageFrames, createTurnFrames } from '../turns/turn-frames.js';
import { findTurnOrigin } from '../turns/turn-origin.js';
import { judged, toViewer } from './authority.js';
import { toTurnSpan, type TurnReader, type TurnSpan } from '../turns/turn-progress.js';
import type { Chat, ChatReply, StreamedReply } from './types.js';

export function toReader({ deps, params, sessionId, caller }: Chat): TurnReader {
  const headers = params.request?.headers;
  return {
    profile: toStreamProfile(headers?.get(HEADERS.profile)),
    toolParts: toToolParts(headers?.get(HEADERS.toolParts)),
    showsSubAgents: headers?.get(HEADERS.subAgents) === '1',
    viewer: toViewer(deps, sessionId, caller),
  };
}

/**
 * Answers a request that only reads: with the newest turn, from its beginning or from the reader's
 * position, or with nothing.
 */
export async function attachReader(chat: Chat, record: SessionRecord): Promise<ChatReply> {
  const position = toPosition(chat);
  if (!wantsTurn(record, position, chat.params.sawActiveSince))
    return { kind: 'nothing', runId: record.runId };
  const view = await chat.deps.stateStore.sessions.view(record.sessionId, undefined, 'turn');
  return view === undefined ? { kind: 'nothing' } : replayTurn(chat, view, position);
}

/**
 * Replays the newest turn from its first part: up to its next stop while it is active, else as
 * stored. Steps whose chunks are gone are rebuilt from the transcript.
 */
export async function replayTurn(
  chat: Chat,
  read: SessionView,
  position?: ResumePosition,
): Promise<ChatReply> {
  const { streamManager } = chat.deps;
  const view = await judged(chat.deps, chat.caller, read);
  const reader = toReader(chat);
  const { record } = view;
  const { runId, messageId } = record;
  const { from, stored } = await findTurnOrigin(streamManager, view);
  const seenUpTo = isInside(record, position) ? position.sequence : undefined;
  const span = { ...toTurnSpan(view, reader), seenUpTo };
  const isReader = seenUpTo !== undefined && position?.kind === 'exact';
  // A reader that holds withdrawn parts must begin again.
  if (isReader && (await isWithdrawn(streamManager, record, seenUpTo)))
    return { kind: 'nothing', runId };
  if (stored === undefined) return streamSpan(chat, span, runId);
  // Rows do not show which chunks a reader has missed.
  if (seenUpTo !== undefined) return { kind: 'nothing', runId };
  const frames =
    span.until.kind === 'stored'
      ? () => createMessageFrames(stored.message, record, reader)
      : (signal: AbortSignal) =>
          createTurnFrames(streamManager, { ...span, from, stored, isTail: true }, signal);
  return { kind: 'stream', runId, messageId, frames };
}

export function streamSpan({ deps }: Chat, span: TurnSpan, runId: string): StreamedReply {
  const { messageId, from, seenUpTo } = span;
  const frames = (signal: AbortSignal) => createTurnFrames(deps.streamManager, span, signal);
  const isTail = span.isTail || seenUpTo !== undefined;
  return { kind: 'stream', runId, messageId, after: seenUpTo ?? from, isTail, frames };
}

/** Returns true for a reader that has part of the newest turn and wants the rest. */
function isInside(
  { turnStartSequence, sequence }: SessionRecord,
  position: ResumePosition | undefined,
): position is ResumePosition {
  if (position === undefined || position.kind === 'whole') return false;
  return position.sequence > turnStartSequence && position.sequence <= sequence;
}

const WITHDRAWING = new Set<string>(['step_discarded', 'stream_resync', 'stream_truncated']);

/** Returns true if parts that were written up to `from` may have been withdrawn since. */
async function isWithdrawn(
  log: Pick<StreamManager, 'read'>,
  { sessionId, sequence }: SessionRecord,
  from: number,
): Promise<boolean> {
  for await (const entries of replayRange(log, sessionId, from, sequence)) {
    if (entries.some(({ message }) => WITHDRAWING.has(message.type))) return true;
  }
  return false;
}

function toPosition({ deps, params }: Chat): ResumePosition | undefined {
  const { resumeFromSequence, request } = params;
  const position: ResumePosition | undefined =
    resumeFromSequence === undefined
      ? request && readResumePosition(request.headers)
      : { sequence: resumeFromSequence, kind: 'whole' };
  // Such a page has everything up to its position.
  const isSeen = deps.contentReplayEnabled === false && position?.kind === 'whole';
  return isSeen ? { ...position, kind: 'seen' } : position;
}

/** Returns true if the reader needs the turn: a snapshot taken during the turn lacks its rest. */
function wantsTurn(
  record: SessionRecord,
  position: ResumePosition | undefined,
  sawActiveSince: number | null | undefined,
): boolean {
  // A reader whose connection broke gets the rest, even if only the end is missing; a reader that
  // has everything gets a 204.
  const isAtEnd = position?.sequence === record.sequence && record.stream !== 'active';
  if (position?.kind === 'exact' && isInside(record, position)) return !isAtEnd;
  if (record.stream === 'active') return true;
  if (position !== undefined && position.sequence < record.sequence) return true;
  return sawActiveSince === undefined
    ? record.activeSnapshotTurn === record.turn
    : sawActiveSince === record.turnStartSequence;
}

/** The position of a reader, which has everything up to `sequence`. */
export interface ResumePosition {
  sequence: number;
  /**
   * `exact` readers have every part up to there; `whole` ones rebuild the message from its
   * beginning; `seen` pages hold the message up to there.
   */
  kind: 'exact' | 'whole' | 'seen';
}

type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>;

/**
 * Reads the position from a request's headers. `Last-Event-ID` comes from readers of the raw event
 * stream, which continue from it; the other two come from pages that hold a snapshot.
 */
function readResumePosition(headers: HeaderBag): ResumePosition | undefined {
  for (const name of [HEADERS.resumeFromSequence, HEADERS.lastEventId, HEADERS.resumeAt]) {
    const sequence = parsePosition(readHeader(headers, name));
    if (sequence === undefined) continue;
    return { sequence, kind: name === HEADERS.lastEventId ? 'exact' : 'whole' };
  }
  return undefined;
}

/** Returns the sequence in headers or in one header's value; undefined without a valid number. */
export function extractResumePosition(
  headers: HeaderBag | string | null | undefined,
): number | undefined {
  if (headers === null || headers === undefined) return undefined;
  return typeof headers === 'string'
    ? parsePosition(headers)
    : readResumePosition(headers)?.sequence;
}

function readHeader(headers: HeaderBag, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === 'string' ? value : value?.[0];
}

function parsePosition(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return undefined;
  return Number(text);
}

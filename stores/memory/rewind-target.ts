import type { Row } from '../../protocol/rows.js';
import type { Checkpoint } from '../contract/checkpoints.js';
import type { RewindInput } from '../contract/runs.js';
import { fromJson } from './json.js';
import type { MemorySession } from './session.js';

/** A turn, as far as a run that goes on with it needs to know. */
interface Turn {
  row: number;
  sequence: number;
  turn: number;
  messageId?: string;
}

/** How much of a session stays: rows, checkpoints, entries up to a sequence; behind which step of which turn. */
export interface RewindTarget {
  turn: Turn;
  keep: number;
  kept: number;
  sequence: number;
  step: number;
}

export function findTarget(
  session: MemorySession,
  rows: readonly Row[],
  checkpoints: readonly Checkpoint[],
  input: RewindInput,
): RewindTarget | { kind: 'checkpoint_not_found' } | { kind: 'message_not_found' } {
  const known = turnsOf(session);
  if (input.mode === 'retry') {
    const { messageId } = input;
    const at =
      messageId === undefined
        ? (session.run?.startRow ?? 0)
        : rows.findLastIndex((row) => idOf(row) === messageId);
    if (at < 0) return { kind: 'message_not_found' };
    const turn = turnOf(session, known, rows, checkpoints, at);
    let keep = turn.row + 1;
    while (rows[keep]?.role === 'user' && !known.has(keep)) keep += 1;
    if (input.messages !== undefined && input.messages.length > 0) {
      if (rows[at]?.role !== 'user') return { kind: 'message_not_found' };
      keep = at;
    }
    const kept = checkpoints.filter(({ messageCount }) => messageCount <= turn.row).length;
    return { turn, keep, kept, sequence: turn.sequence, step: 0 };
  }
  const index = checkpoints.findIndex(({ id }) => id === input.checkpointId);
  const checkpoint = checkpoints[index];
  if (checkpoint === undefined) return { kind: 'checkpoint_not_found' };
  const turn = turnOf(session, known, rows, checkpoints, checkpoint.messageCount - 1);
  let keep = checkpoint.messageCount;
  // The step's results follow it, in the transcript and in the log.
  while (isResult(rows[keep])) keep += 1;
  const { stepCount: step, streamSequence } = checkpoint;
  const sequence = endOfStep(session, step, streamSequence);
  return { turn, keep, kept: index + 1, sequence, step };
}

function idOf(row: Row): string | undefined {
  if (row.role === 'tool') return undefined;
  return row.role === 'user' ? row.id : row.messageId;
}

function isResult(row: Row | undefined): boolean {
  return row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
}

/** The newest turn of each run, by its first row. */
function turnsOf({ run, endedRuns }: MemorySession): Map<number, Turn> {
  const turns = new Map<number, Turn>();
  for (const info of endedRuns.map(fromJson)) {
    if (info.rewound === true) continue;
    const { startRow: row, startSequence: sequence, turn, messageId } = info;
    turns.set(row, { row, sequence, turn, messageId });
  }
  if (run !== undefined) {
    const { startRow: row, startSequence: sequence, turn, messageId } = run;
    turns.set(row, { row, sequence, turn, messageId });
  }
  return turns;
}

/**
 * The turn that a row belongs to. Turns that were steered away from, and those of a copied session,
 * are on no run's record: they are found by their messages.
 */
function turnOf(
  session: MemorySession,
  known: ReadonlyMap<number, Turn>,
  rows: readonly Row[],
  checkpoints: readonly Checkpoint[],
  at: number,
): Turn {
  const begins = (n: number): boolean =>
    known.has(n) || (isSpoken(rows[n]) && !isSpoken(rows[n - 1]));
  let row = at;
  while (row > 0 && !begins(row)) row -= 1;
  const found = known.get(row);
  if (found !== undefined) return found;
  let turn = 1;
  let before = row - 1;
  for (; before >= 0 && !known.has(before); before -= 1) if (begins(before)) turn += 1;
  const last = checkpoints.findLast(({ messageCount }) => messageCount <= row);
  const sequence = last === undefined ? 0 : endOfStep(session, last.stepCount, last.streamSequence);
  return { row, sequence, turn: turn + (known.get(before)?.turn ?? 0) };
}

/** Notices of late answers are no person's messages. */
function isSpoken(row: Row | undefined): boolean {
  return row?.role === 'user' && !(row.hidden === true && row.id.startsWith('late-'));
}

/** Sequence of the last entry that tells of a committed step: its calls' results come after the commit. */
function endOfStep({ id, log }: MemorySession, step: number, sequence: number): number {
  let last = sequence;
  for (const entry of log.entries) {
    if (entry.sequence <= sequence) continue;
    const message = fromJson(entry.message);
    if (!('step' in message)) return last;
    if (message.type === 'run_interrupted' || message.type === 'error') return last;
    // A sub-agent counts steps of its own.
    if (message.agentId === id && message.step !== step) return last;
    last = entry.sequence;
  }
  return last;
}

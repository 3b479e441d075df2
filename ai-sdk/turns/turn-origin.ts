import type { LogEntry } from '../../protocol/chunk.js';
import { formatModelWriter } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { SessionView } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { toAllMessages } from './ui-history.js';
import type { UIMessage } from '../parts/ui-message.js';

/** The newest turn's committed steps, built from their rows because their chunks are gone. */
export interface StoredSteps {
  message: UIMessage;
  /** Number of the newest step in the message. */
  step: number;
  /** The message includes all entries of these steps up to here, except those of `unfinished`. */
  asOf: number;
  /** Writers of calls whose rows are not stored yet. */
  unfinished: ReadonlySet<string>;
}

/** The beginning of a replay of the newest turn. */
export interface TurnOrigin {
  /** Sequence before the first entry to read. */
  from: number;
  stored?: StoredSteps;
}

/**
 * Returns the log as the origin, unless it has lost the beginning of a turn whose steps are stored:
 * chunks expire, and a store may have been cut or restored.
 */
export async function findTurnOrigin(
  reader: Pick<StreamManager, 'read'>,
  view: SessionView,
): Promise<TurnOrigin> {
  const { sessionId, messageId, turnStartSequence, committedStep, sequence } = view.record;
  const whole: TurnOrigin = { from: turnStartSequence };
  const [first] = await reader.read(sessionId, turnStartSequence, 1);
  if (first !== undefined && (isBeginning(first, view) || !hasReply(view))) return whole;
  const message = toAllMessages(view).find(({ id }) => id === messageId);
  if (message === undefined) return whole;
  return {
    from: first === undefined ? sequence : first.sequence - 1,
    stored: { message, step: committedStep, asOf: sequence, unfinished: toUnfinished(view) },
  };
}

/** Returns true for entries that the steps' rows do not contain. */
export function isBeyond(
  { step, asOf, unfinished }: StoredSteps,
  { sequence, writer, message }: LogEntry,
): boolean {
  if (message.type === 'custom' && unfinished.has(writer)) return true;
  return sequence > asOf || ('step' in message && message.step > step);
}

function toUnfinished({ openCalls }: SessionView): ReadonlySet<string> {
  const calls = openCalls.filter(({ row }) => row === undefined);
  return new Set(calls.map(({ spec }) => `t:${spec.toolCallId}`));
}

function hasReply(view: SessionView): boolean {
  return rowsOfTurn(view).some(({ role }) => role === 'assistant');
}

/** Returns the rows of the newest turn. */
function rowsOfTurn({ record, rows, firstRow = 0 }: SessionView): Row[] {
  return rows.slice(Math.max(0, record.turnStartRow - firstRow));
}

/**
 * Returns true for an entry that can be a turn's first. A dead attempt leaves a gap and an entry
 * about it. A run stopped before the model's output leaves a checkpoint without a row, or an entry
 * of step 0.
 */
function isBeginning({ message, writer }: LogEntry, view: SessionView): boolean {
  if (message.type === 'turn_started') return true;
  if (!('step' in message) || message.step > 1) return false;
  if (message.step === 0 || FIRST.has(message.type)) return true;
  // Defaults of the state's schema precede the first step's output.
  const isModel = writer === formatModelWriter(view.record.sessionId, 1);
  if (message.type === 'state_patch' && isModel) return true;
  const isSilent = !rowsOfTurn(view).some((row) => row.role === 'assistant' && row.step === 1);
  return message.type === 'checkpoint_created' && isSilent;
}

const FIRST = new Set<string>(['step_start', 'step_discarded']);

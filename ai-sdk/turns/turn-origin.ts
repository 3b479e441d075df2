import type { LogEntry } from '../../protocol/chunk.js';
import { formatModelWriter } from '../../protocol/ids.js';
import type { SessionView } from '../../store/contract/sessions.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { toAllMessages } from './ui-history.js';
import type { UIMessage } from '../parts/ui-message.js';

/** The newest turn's committed steps as their rows have them, in place of chunks that are gone. */
export interface StoredSteps {
  message: UIMessage;
  /** The newest step that the message has. */
  step: number;
  /** The message has all of the log about these steps up to here, */
  asOf: number;
  /** but for the entries of these writers: calls whose rows are not stored yet. */
  unfinished: ReadonlySet<string>;
}

/** Where a replay of the newest turn begins. */
export interface TurnOrigin {
  /** Sequence before the first entry to read. */
  from: number;
  stored?: StoredSteps;
}

/**
 * The log, unless it has lost the beginning of a turn whose steps are stored: chunks expire, and a
 * store may have been cut or restored.
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

/** True for entries that the steps' rows do not contain. */
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

function hasReply({ record, rows }: SessionView): boolean {
  return rows.slice(record.turnStartRow).some(({ role }) => role === 'assistant');
}

/**
 * True for a turn's first entry. Attempts that died leave gaps, but an entry about them. A run that
 * was stopped before its model's first output leaves a checkpoint without a row, or an end before the
 * first step, and may be resumed.
 */
function isBeginning({ message, writer }: LogEntry, { record, rows }: SessionView): boolean {
  if (message.type === 'turn_started') return true;
  if (!('step' in message) || message.step > 1) return false;
  if (message.step === 0 || FIRST.has(message.type)) return true;
  // Defaults of the state's schema come before the first step's first output.
  const isModel = writer === formatModelWriter(record.sessionId, 1);
  if (message.type === 'state_patch' && isModel) return true;
  const isSilent = !rows
    .slice(record.turnStartRow)
    .some((row) => row.role === 'assistant' && row.step === 1);
  return message.type === 'checkpoint_created' && isSilent;
}

const FIRST = new Set<string>(['step_start', 'step_discarded']);

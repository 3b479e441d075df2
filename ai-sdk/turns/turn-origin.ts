import type { LogEntry } from '../../protocol/chunk.js';
import { formatModelWriter } from '../../protocol/ids.js';
import type { SessionView } from '../../stores/contract/sessions.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { toAllMessages } from './ui-history.js';
import type { UIMessage } from '../parts/ui-message.js';

/** The newest turn's committed steps as their rows have them, in place of chunks that are gone. */
export interface StoredSteps {
  message: UIMessage;
  /** The newest step that the message has. */
  step: number;
  /** Everything that the log says of these steps up to here is in the message, */
  asOf: number;
  /** but for what these writers say: calls whose rows are yet to come. */
  atWork: ReadonlySet<string>;
}

/** Where a replay of the newest turn takes its beginning from. */
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
    stored: { message, step: committedStep, asOf: sequence, atWork: toCallsAtWork(view) },
  };
}

/** True for entries that the steps' rows do not speak of. */
export function isBeyond(
  { step, asOf, atWork }: StoredSteps,
  { sequence, writer, message }: LogEntry,
): boolean {
  if (message.type === 'custom' && atWork.has(writer)) return true;
  return sequence > asOf || ('step' in message && message.step > step);
}

function toCallsAtWork({ openCalls }: SessionView): ReadonlySet<string> {
  const atWork = openCalls.filter(({ row }) => row === undefined);
  return new Set(atWork.map(({ spec }) => `t:${spec.toolCallId}`));
}

function hasReply({ record, rows }: SessionView): boolean {
  return rows.slice(record.turnStartRow).some(({ role }) => role === 'assistant');
}

/**
 * What a turn begins with; attempts that died leave gaps, but say so. A run that was stopped before
 * its model said anything leaves a checkpoint and no row, or an end before the first step, and may
 * be resumed.
 */
function isBeginning({ message, writer }: LogEntry, { record, rows }: SessionView): boolean {
  if (message.type === 'turn_started') return true;
  if (!('step' in message) || message.step > 1) return false;
  if (message.step === 0 || FIRST.has(message.type)) return true;
  // What the state's schema adds comes before the first step's first output.
  const isModel = writer === formatModelWriter(record.sessionId, 1);
  if (message.type === 'state_patch' && isModel) return true;
  const saidNothing = !rows
    .slice(record.turnStartRow)
    .some((row) => row.role === 'assistant' && row.step === 1);
  return message.type === 'checkpoint_created' && saidNothing;
}

const FIRST = new Set<string>(['step_start', 'step_discarded']);

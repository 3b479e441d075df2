import { byteLength } from './fields.js';
import { LIMITS } from '../protocol/limits.js';
import { openCalls, pastOf } from './calls.js';
import type {
  Only,
  Operation,
  StateChanges,
  Stored,
  WaitCall,
  Writer,
  WriterInput,
} from './input.js';
import { noteDeadline, restIfWaiting } from './pause.js';
import type { Call } from './record.js';
import { setBusy } from './settling.js';
import { stageChanges } from './state.js';
import { type Session } from './tree.js';
import { isActive } from './writers.js';

interface JournalInput {
  writer: Writer;
  toolCallId: string;
  /** Place in the journal of the call, from 0. */
  at: number;
  now: number;
  /** Changes of the agent's own state since the operation before. */
  changes?: StateChanges;
}

export interface RecordStep extends JournalInput {
  /** The step with its result; absent when it begins or has failed. */
  operation?: Operation;
  /** The step threw: nothing of it is recorded, and the tool is no longer in its middle. */
  failed?: boolean;
}

/** `full`: the journal holds as much as it may. */
type Refused = Only<'superseded' | 'stopped' | 'fenced' | 'full'>;

export type RecordStepReply = { kind: 'recorded' } | Refused;

/** Of a step that threw; its tool carries it out again when it is executed again. */
const FAILED = 'null';

function nameOf(at: number, id: string): string {
  return `op${String(at)}:${id}`;
}

/** Why nothing is added to the journal of a call. */
function refusalOf(
  session: Session,
  call: Call | undefined,
  { writer, toolCallId, at }: Stored<JournalInput>,
): Refused | undefined {
  if (
    call?.state === 'settled' ||
    (call === undefined && pastOf(session, toolCallId) !== undefined)
  ) {
    return { kind: 'superseded' };
  }
  if (!isActive(session, writer.runId)) return { kind: 'superseded' };
  if (session.existing.run.stop !== undefined) return { kind: 'stopped' };
  if (session.writer(writer.name)?.token !== writer.token || call?.state !== 'started')
    return { kind: 'fenced' };
  const { journal: most } = LIMITS;
  if (at >= most.operations || (call.journal?.bytes ?? 0) > most.bytes) return { kind: 'full' };
  return undefined;
}

/**
 * Notes that a step of a tool begins, its result, or that it threw, after which the tool is in the middle of nothing.
 * What the tool emitted before a result is kept with it.
 */
export function recordStep(session: Session, input: Stored<RecordStep>): RecordStepReply {
  const { writer, toolCallId: id, at, now, operation, failed, changes } = input;
  const call = session.calls.get(id);
  const before =
    at < (call?.journal?.operations ?? 0) ? session.content.get(nameOf(at, id)) : undefined;
  const hasResult = before !== undefined && before !== '' && before !== FAILED;
  if (session.writer(writer.name)?.token === writer.token && hasResult) return { kind: 'recorded' };
  const refusal = refusalOf(session, call, input);
  if (refusal !== undefined || call === undefined) return refusal ?? { kind: 'fenced' };
  add(session, call, at, failed === true ? FAILED : (operation ?? ''));
  if (operation !== undefined) seal(session, call, writer, at, changes);
  session.existing.updated = now;
  return { kind: 'recorded' };
}

export interface SuspendCall extends JournalInput {
  operation: Operation;
  /** The call whose result is waited for, unknown to the model. */
  wait: WaitCall;
  /** When a wait that asks no person ends, ms from now. */
  dueInMs?: number;
}

export type SuspendCallReply = { kind: 'suspended' } | Refused;

/**
 * The tool of a call waits, and gives up its process. What it waits for becomes a call of the same step; once that is
 * settled, the call is released like an approved one, and its tool is executed again with what it has recorded.
 */
export function suspendCall(session: Session, input: Stored<SuspendCall>): SuspendCallReply {
  const { writer, toolCallId: id, at, now, wait, dueInMs } = input;
  const call = session.calls.get(id);
  if (call?.journal?.waits[at] === wait.id) return { kind: 'suspended' };
  const refusal = refusalOf(session, call, input);
  if (refusal !== undefined || call === undefined) return refusal ?? { kind: 'fenced' };
  const journal = add(session, call, at, input.operation);
  seal(session, call, writer, at, input.changes);
  openCalls(session, [wait]);
  const waiting = session.calls.get(wait.id);
  if (waiting !== undefined) {
    waiting.of = id;
    if (dueInMs !== undefined) waiting.deadline = session.tree.now + dueInMs;
  }
  journal.waits[at] = wait.id;
  call.state = 'suspended';
  // The execution that ends here and the one that continues it are one.
  call.n -= 1;
  setBusy(session, call, false);
  session.existing.updated = now;
  if (!restIfWaiting(session, now)) noteDeadline(session.tree.conversation);
  return { kind: 'suspended' };
}

function add(
  session: Session,
  call: Call,
  at: number,
  operation: string,
): NonNullable<Call['journal']> {
  const { operations, waits, bytes, ...sealed } = call.journal ?? {
    operations: 0,
    waits: {},
    bytes: 0,
  };
  const journal = {
    ...sealed,
    operations: Math.max(operations, at + 1),
    waits,
    bytes: bytes + byteLength(operation),
  };
  call.journal = journal;
  session.content.set(nameOf(at, call.id), operation);
  return journal;
}

/**
 * What the attempt has emitted and changed up to now stays if the attempt is lost: the operation that was recorded comes
 * after it.
 */
function seal(
  session: Session,
  call: Call,
  { name, step }: WriterInput,
  at: number,
  changes: string | undefined,
): void {
  if (changes !== undefined)
    stageChanges(session, `s${String(step)}.${String(at)}`, call.id, changes);
  // The changes of the state are staged, so nothing takes them back.
  const kept = session.notes(name).filter((note) => note.startsWith('c'));
  if (call.journal !== undefined) call.journal.sealed = kept.join(' ');
  session.setNotes(name, kept);
  const writer = session.writer(name);
  if (writer !== undefined) writer.first = session.tree.log.sequence;
}

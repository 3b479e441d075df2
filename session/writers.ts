import { isTerminal } from '../protocol/run.js';
import { byteLength } from './fields.js';
import type { AttemptBudget, Only, Stored, WriterInput, Writer as Given } from './input.js';
import type { Writer } from './record.js';
import { writeChunk, type ChunkAuthor } from './chunks.js';
import { type Session } from './tree.js';

const MAX_FORGIVEN = 20;
const PAGE = 2_000;

/** Makes an attempt the owner of its writer. */
export function own(session: Session, name: string, token: number): void {
  const { left: _left, handedOver: _handedOver, ...kept } = session.writer(name) ?? {};
  session.setWriter(name, { ...kept, token, first: session.tree.log.sequence });
  session.resetBatch(name);
  session.writers.set(`e:${name}`, '');
}

/** Returns true for an attempt that is its writer's newest owner. */
export function owns(session: Session, attempt?: Pick<Given, 'name' | 'token'>): boolean {
  return attempt !== undefined && session.writer(attempt.name)?.token === attempt.token;
}

/** Withdraws the entries of a writer's earlier attempts. @returns if any was removed, and its bytes of model output */
export function withdraw(session: Session, name: string): { removed: boolean; spoken: number } {
  const writer = session.writer(name);
  if (writer === undefined) return { removed: false, spoken: 0 };
  if (session.batch(name).n === 0 && writer.left === undefined)
    return { removed: false, spoken: 0 };
  const { log } = session.tree;
  let after = writer.first;
  let spoken = 0;
  let removed = writer.left === 'withdrawn';
  for (;;) {
    const page = log.after(after, PAGE);
    const own = page.filter(([, by]) => by === name);
    for (const [, , message] of own) spoken += spokenBytes(message);
    removed ||= own.length > 0;
    after = page.at(-1)?.[0] ?? after;
    log.remove(own);
    if (page.length < PAGE) return { removed, spoken };
  }
}

function spokenBytes(message: string): number {
  if (message.startsWith('[')) return byteLength((JSON.parse(message) as [string])[0]);
  if (!/^\{"type":"(text_delta|tool_arg_stream_delta|thinking)"/.test(message)) return 0;
  const { delta, content } = JSON.parse(message) as { delta?: unknown; content?: unknown };
  const spoken = delta ?? content;
  return typeof spoken === 'string' ? byteLength(spoken) : 0;
}

/** Counts the owner as lost, unless it has handed over. */
export function countLost(session: Session, name: string, { withinMs }: AttemptBudget): void {
  const writer = session.writer(name);
  if (writer === undefined) return;
  const { now } = session.tree;
  writer.lost = (writer.lost ?? []).filter(({ at }) => at >= now - withinMs);
  if (writer.handedOver !== writer.token) writer.lost.push({ token: writer.token, at: now });
}

/** Returns true if no further attempt may be made, counting the current owner as lost. */
export function isExhausted(
  session: Session,
  { token, lost = [], handedOver }: Writer,
  budget: AttemptBudget,
): boolean {
  const counted = lost.filter(({ at }) => at >= session.tree.now - budget.withinMs).length;
  return counted + (handedOver === token ? 0 : 1) >= budget.max;
}

export interface HandOver {
  writer: Given;
  /** The call that was being executed; absent for a model step. */
  toolCallId?: string;
  /**
   * `left`: the worker shuts down, an engine is unavailable, or the attempt was wrongly judged
   * dead; it does not count as an execution. `retry`: the tool failed and will be executed again.
   * `fault`: our code threw, which counts as lost.
   */
  how: 'left' | 'retry' | 'fault';
}

export type HandOverReply =
  /** `lost`: number of attempts that count now. */
  { kind: 'handed_over'; lost: number } | Only<'superseded' | 'not_owner'>;

/** Ends an attempt without a result. Only `fault` counts as lost; one that `left`, but was taken over, is forgiven. */
export function handOver(
  session: Session,
  { writer: { runId, name, token }, toolCallId, how }: Stored<HandOver>,
): HandOverReply {
  if (!isActive(session, runId)) return { kind: 'superseded' };
  const writer = session.writer(name);
  if (writer === undefined || writer.token < token) return { kind: 'not_owner' };
  if (writer.token > token) {
    if (how === 'left') forgive(writer, token);
  } else if (writer.handedOver !== token) {
    writer.handedOver = token;
    if (how === 'fault') writer.lost = [...(writer.lost ?? []), { token, at: session.tree.now }];
    const call = toolCallId === undefined ? undefined : session.calls.get(toolCallId);
    if (how === 'left' && call !== undefined) call.n -= 1;
  }
  if (toolCallId === undefined && how !== 'retry')
    session.tree.emit({ kind: 'attempt_ended', outcome: how });
  return { kind: 'handed_over', lost: writer.lost?.length ?? 0 };
}

function forgive(writer: Writer, token: number): void {
  const kept = (writer.lost ?? []).filter((lost) => lost.token !== token);
  if (kept.length === (writer.lost ?? []).length) return;
  writer.forgiven = (writer.forgiven ?? 0) + 1;
  if (writer.forgiven <= MAX_FORGIVEN) writer.lost = kept;
}

/** Reports that an attempt may no longer write, or that others do its work. */
export function lost<Kind extends 'fenced' | 'superseded' | 'rewound' | 'exhausted'>(
  { tree }: Session,
  kind: Kind,
): { kind: Kind } {
  tree.emit({ kind: 'attempt_ended', outcome: kind === 'superseded' ? 'fenced' : kind });
  if (kind === 'superseded') tree.emit({ kind: 'work_over' });
  return { kind };
}

export function isActive(session: Session, runId: string): boolean {
  const { record } = session;
  return record?.run.id === runId && !isTerminal(record.run.status);
}

/** Informs viewers that an attempt at a step was discarded, and that part of what they saw was withdrawn. */
export function writeDiscarded(
  session: Session,
  author: ChunkAuthor,
  reason: string,
  removed: boolean,
): void {
  const stepId = `s${String(author.step)}`;
  writeChunk(session, author, 'step_discarded', { runId: session.existing.run.id, stepId, reason });
  if (removed) writeResync(session, author, 'crash_recovery');
}

/** Tells viewers to load what they show again. @param toolCallId only of this call */
export function writeResync(
  session: Session,
  author: ChunkAuthor,
  reason: 'crash_recovery' | 'retry' | 'rollback',
  { step, toolCallId }: { step?: number; toolCallId?: string } = {},
): void {
  const { checkpoint, run } = session.existing;
  writeChunk(session, author, 'stream_resync', {
    checkpointId: checkpoint?.id ?? '',
    stepCount: step ?? run.committed,
    messageCount: session.rows.count,
    fromSequence: session.tree.log.sequence,
    reason,
    toolCallId,
  });
}

export interface TakeOver {
  sessionId: string;
  runId: string;
  name: string;
}

export type TakeOverReply =
  /** `first`: sequence before the first entry of the attempt that was fenced off. */
  { kind: 'taken'; token: number; first: number } | Only<'nothing' | 'superseded'>;

/** Makes the caller the owner of a writer that does not answer. Its entries stay; its next write is refused. */
export function takeOver(session: Session, { runId, name }: Stored<TakeOver>): TakeOverReply {
  if (!isActive(session, runId)) return { kind: 'superseded' };
  const writer = session.writer(name);
  if (writer === undefined) return { kind: 'nothing' };
  const token = writer.token + 1;
  const hasWritten = session.batch(name).n > 0;
  // A later attempt still withdraws what was written.
  session.setWriter(name, { ...writer, token, ...(hasWritten && { left: 'wrote' as const }) });
  session.resetBatch(name);
  return { kind: 'taken', token, first: writer.first };
}

/** Lets this attempt alone append at the step of an active run, before it claims it. */
export function fenceOff(
  session: Session,
  { writer }: { writer: WriterInput },
): { kind: 'taken' | 'superseded' } {
  const { runId, name, token } = writer;
  if (!isActive(session, runId) || session.existing.run.stop !== undefined)
    return { kind: 'superseded' };
  if (session.fence(name) < token) session.writers.set(`t:${name}`, String(token));
  return { kind: 'taken' };
}

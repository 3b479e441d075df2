import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { formatApprovalId } from '../../protocol/ids.js';
import { createReplyFold, type ReplyFold } from '../../protocol/reply-fold.js';
import type { AssistantRow, Row, ToolRow, UserRow } from '../../protocol/rows.js';
import type { TerminalStatus } from '../../protocol/run.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord, SessionView } from '../../store/contract/sessions.js';
import { toOpenCall, toOpening, type Bare, type FakeCall } from './fake-call.js';

/**
 * An in-memory session that a test writes by hand, in the runtime's order of writes. It is only for
 * tests of the HTTP side: it makes none of the decisions of the real scripts.
 */
export class FakeSession {
  readonly entries: LogEntry[] = [];
  readonly rows: Row[] = [];
  openCalls: OpenCall[] = [];
  record: SessionRecord;
  #fold: ReplyFold = createReplyFold();
  #step = 0;
  #listeners = new Set<() => void>();

  constructor(sessionId: string, agent = 'lab', owner = 'anonymous') {
    this.record = {
      sessionId,
      agent,
      owner,
      createdAt: 1,
      updatedAt: 1,
      sequence: 0,
      turn: 0,
      runId: '',
      status: 'completed',
      stream: 'ended',
      messageId: '',
      turnStartSequence: 0,
      turnStartRow: 0,
      runStartedAt: 1,
      runMode: 'new',
      askers: [],
      runStartSequence: 0,
      runFromStep: 0,
      committedStep: 0,
      claimedStep: 0,
      pauseSequence: 0,
      stateVersion: 0,
      born: 'abc',
      queued: 0,
    };
  }

  view(): SessionView {
    return structuredClone({
      record: this.record,
      rows: this.rows,
      openCalls: this.openCalls,
      queue: [],
    });
  }

  begin(...messages: UserRow[]): void {
    this.takeIn();
    const { record } = this;
    record.turn += 1;
    record.runId = `${record.sessionId}:${String(record.turn)}-abc`;
    record.turnStartRow = this.rows.length;
    this.rows.push(...messages);
    const shown = new Set(
      this.rows.flatMap((row) =>
        row.role === 'tool' || (row.role === 'user' && row.hidden)
          ? []
          : [row.role === 'user' ? row.id : row.messageId],
      ),
    );
    record.messageId = `msg-${String(shown.size)}`;
    record.turnStartSequence = record.sequence;
    record.pauseSequence = record.sequence;
    record.status = 'running';
    record.stream = 'active';
    record.committedStep = 0;
    this.#step = 0;
  }

  /** Begins a step; the step's first output announces it. */
  step(): void {
    this.takeIn();
    this.#step += 1;
    this.#fold = createReplyFold();
    this.write({ type: 'step_start', stepId: `s${String(this.#step)}` }, `m${String(this.#step)}`);
  }

  /** Writes output of the model. */
  model(...chunks: Bare[]): void {
    for (const chunk of chunks) this.write(chunk, `m${String(this.#step)}`);
  }

  say(...deltas: string[]): void {
    this.model(...deltas.map((delta) => ({ type: 'text_delta' as const, delta })));
  }

  think(...contents: string[]): void {
    this.model(
      ...contents.map((content) => ({ type: 'thinking' as const, content, isComplete: false })),
      { type: 'thinking', content: '', isComplete: true },
    );
  }

  commit(calls: FakeCall[] = [], interrupted?: AssistantRow['interrupted']): void {
    const { record } = this;
    this.model(...calls.map((call) => toOpening(record.runId, call)));
    const kinds = new Map(calls.map((call) => [call.id, call]));
    const parts = this.#fold.parts.map((part) => {
      if (part.type !== 'tool-call') return part;
      const call = kinds.get(part.toolCallId);
      const kind = call?.kind ?? 'server';
      const approvalId = formatApprovalId(record.runId, part.toolCallId);
      return { ...part, kind, ...(kind === 'approval' && { approvalId }) };
    });
    const { messageId, runId } = record;
    const row = { role: 'assistant' as const, messageId, runId, step: this.#step, parts };
    this.rows.push({ ...row, ...(interrupted !== undefined && { interrupted }) });
    const stepId = `s${String(this.#step)}`;
    const checkpointId = `cpv1-${stepId}`;
    const finishReason = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const);
    this.model(
      { type: 'step_end', stepId, finishReason, ...(interrupted !== undefined && { interrupted }) },
      { type: 'checkpoint_created', runId, checkpointId, stepCount: this.#step },
      { type: 'step_committed', runId, stepId, checkpointId },
    );
    record.committedStep = this.#step;
    this.openCalls = calls.map((call) => toOpenCall(runId, this.#step, call));
  }

  settle(id: string, result: { output: unknown } | { error: string; errorCode?: string }): void {
    const call = this.#call(id);
    const { toolName, kind } = call.spec;
    const failed = 'error' in result;
    const row: ToolRow = { role: 'tool', toolCallId: id, toolName, ...result };
    call.state = 'settled';
    call.row = call.decision === undefined ? row : { ...row, decision: call.decision };
    const fields = failed ? result : {};
    const mark = kind === 'server' ? { providerExecuted: true } : {};
    const value = failed ? null : result.output;
    this.write(
      { type: 'tool_end', toolCallId: id, toolName, result: value, ...fields, ...mark },
      `t:${id}`,
    );
  }

  /** Records a person's decision; returns the sequence after it. */
  decide(id: string, approved: boolean, reason?: string): number {
    const call = this.#call(id);
    const { toolName } = call.spec;
    call.decision = { approved, at: 1, reason };
    const approvalId = call.spec.approvalId ?? '';
    this.write({
      type: 'tool_approval_response',
      toolCallId: id,
      toolName,
      approvalId,
      approved,
      ...(reason !== undefined && { reason }),
    });
    call.state = approved ? 'approved' : 'settled';
    if (!approved) {
      const { decision } = call;
      call.row = { role: 'tool', toolCallId: id, toolName, denied: true, decision };
    }
    return this.record.sequence;
  }

  get isWaiting(): boolean {
    return this.openCalls.some(({ state }) => state === 'waiting');
  }

  pause(): void {
    const { record } = this;
    const waiting = this.openCalls.filter(({ state }) => state === 'waiting');
    const toolCallIds = waiting.map(({ spec }) => spec.toolCallId);
    this.write({
      type: 'suspension_marker',
      kind: 'suspended_client_tool',
      payload: { toolCallIds },
    });
    record.stream = 'paused';
    record.status = 'waiting_approval';
    record.pauseSequence = record.sequence + 1;
    for (const call of waiting) call.askedAt = record.pauseSequence;
    this.write({ type: 'run_paused', runId: record.runId, reason: 'approval' });
  }

  resume(): void {
    const { record } = this;
    record.stream = 'active';
    record.status = 'running';
    this.write({
      type: 'run_resumed',
      runId: record.runId,
      fromCheckpointId: null,
      fromStepCount: record.committedStep,
      mode: 'continue',
    });
  }

  /** Discards a dead attempt: its entries go, and viewers are notified. */
  discard(): void {
    const writer = `m${String(this.#step)}`;
    const kept = this.entries.filter(
      (entry) => entry.writer !== writer || entry.sequence <= this.record.turnStartSequence,
    );
    const { runId, sequence } = this.record;
    const removed = kept.length < this.entries.length;
    this.entries.splice(0, this.entries.length, ...kept);
    const stepId = `s${String(this.#step)}`;
    this.write({ type: 'step_discarded', runId, stepId, reason: 'attempt_lost' });
    if (removed) {
      const counts = { stepCount: this.#step - 1, messageCount: this.rows.length };
      const reason = 'crash_recovery' as const;
      this.write({
        type: 'stream_resync',
        checkpointId: '',
        ...counts,
        fromSequence: sequence,
        reason,
      });
    }
    this.#step -= 1;
  }

  end(status: TerminalStatus = 'completed', error = 'The model provider failed.'): void {
    const { record } = this;
    for (const call of this.openCalls) {
      if (call.state === 'settled') continue;
      this.settle(call.spec.toolCallId, {
        error: 'The run was stopped.',
        errorCode: 'run_stopped',
      });
    }
    this.takeIn();
    const { runId, messageId } = record;
    const turn = this.rows.slice(record.turnStartRow);
    if (status !== 'completed' && !turn.some(({ role }) => role === 'assistant')) {
      this.rows.push({ role: 'assistant', messageId, runId, step: 0, display: true, parts: [] });
    }
    if (status === 'interrupted')
      this.write({ type: 'run_interrupted', runId, checkpointId: null });
    if (status === 'failed' || status === 'aborted') {
      this.write({ type: 'error', error, code: 'provider_error', recoverable: false });
      record.error = { code: 'provider_error', message: error, retryable: false };
    }
    record.status = status;
    record.stream = status === 'failed' || status === 'aborted' ? 'failed' : 'ended';
    this.append('', { type: 'stream_end', streamId: record.sessionId, timestamp: 1, status });
  }

  write(chunk: Bare, writer = ''): void {
    const { sessionId: agentId, agent: agentType } = this.record;
    this.append(writer, {
      ...chunk,
      agentId,
      agentType,
      timestamp: 1,
      step: this.#step,
    });
  }

  append(writer: string, message: StreamMessage): void {
    if (writer.startsWith('m')) this.#fold.accept(message);
    this.record.sequence += 1;
    this.entries.push({ sequence: this.record.sequence, writer, message });
    for (const listener of this.#listeners) listener();
  }

  takeIn(): void {
    for (const { row } of this.openCalls) if (row !== undefined) this.rows.push(row);
    this.openCalls = [];
  }

  onAppend(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #call(id: string): OpenCall {
    const call = this.openCalls.find(({ spec }) => spec.toolCallId === id);
    if (call === undefined) throw new Error(`no open call ${id}`);
    return call;
  }
}

import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { formatCheckpointId, formatModelWriter } from '../../protocol/ids.js';
import type { KnownPerson } from '../../protocol/responder.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import type { StopRequest } from '../../protocol/run.js';
import type { CallEdit, NewCall, OpenCall } from '../contract/call-record.js';
import type {
  ExtendDeadlineResult,
  LeaseCallResult,
  SettleCallResult,
  StartCallResult,
} from '../contract/calls.js';
import type { CustomState } from '../contract/documents.js';
import type { AppendResult, Writer } from '../contract/log.js';
import type { BeginQueuedResult, QueuedEntry } from '../contract/queue.js';
import type {
  UserMessage,
  ResumeRunInput,
  ResumeRunResult,
  RewindResult,
  BeginInput,
  BeginResult,
  EndInput,
  EndResult,
  RunInfo,
  RunRecord,
  StopResult,
} from '../contract/runs.js';
import type { SessionRecord, SessionView } from '../contract/sessions.js';
import type { ClaimResult, CommitInput, CommitResult } from '../contract/steps.js';
import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { AGENT, assistantRow, newNonce, newSessionId, textChunk, userMessage } from './fixtures.js';

/** Drives one session change by change, like API and workers. */
export interface SessionDriver {
  readonly id: string;
  begin: (input?: Partial<BeginInput>) => Promise<BeginResult>;
  /** Starts a run for one new message, or with this input. */
  newRun: (message?: string | Partial<BeginInput>) => Promise<RunRecord>;
  /** Starts a run whose first step is claimed. */
  speaking: () => Promise<{ runId: string; writer: Writer }>;
  /** Sends a message that may be queued. */
  enqueue: (messageId: string) => Promise<BeginResult>;
  /** Sends a message for the run's next step. */
  steer: (messageId: string) => Promise<BeginResult>;
  /** Starts a run for queued messages. */
  beginNext: () => Promise<BeginQueuedResult>;
  /** Continues the turn of the newest run. */
  resume: (input?: Partial<ResumeRunInput>) => Promise<ResumeRunResult>;
  /** Repeats the newest turn, or the turn of the named message. */
  retry: (
    input?: RewindExtra & { messageId?: string; messages?: UserMessage[] },
  ) => Promise<RewindResult>;
  /** Returns to a checkpoint. */
  rewindTo: (checkpointId: string, input?: RewindExtra) => Promise<RewindResult>;
  writer: (runId: string, step: number, token: number) => Writer;
  callWriter: (runId: string, step: number, toolCallId: string, token: number) => Writer;
  claim: (writer: Writer, known?: number) => Promise<ClaimResult>;
  say: (writer: Writer, batch: number, text: string, known?: number) => Promise<AppendResult>;
  commit: (writer: Writer, extra?: Partial<CommitInput>) => Promise<CommitResult>;
  /** Claims and commits a step with these calls. */
  ask: (runId: string, step: number, calls: NewCall[]) => Promise<CommitResult>;
  /** Starts a run whose first step has these calls. */
  asked: (...calls: NewCall[]) => Promise<RunRecord>;
  decide: (
    runId: string,
    toolCallId: string,
    approved: boolean,
    extra?: {
      now?: number;
      permitted?: boolean;
      approver?: KnownPerson;
      edit?: CallEdit;
      shownEdit?: number;
    },
  ) => Promise<SettleCallResult>;
  /** Answers with a client's result or error. */
  answer: (
    runId: string,
    toolCallId: string,
    result: { output: unknown } | { error: string },
    extra?: { permitted?: boolean },
  ) => Promise<SettleCallResult>;
  expire: (runId: string, toolCallId: string, now?: number) => Promise<SettleCallResult>;
  /** Applies the tool's own rule to an approval that was not answered in time. */
  expireAs: (runId: string, toolCallId: string, approved: boolean) => Promise<SettleCallResult>;
  extend: (runId: string, toolCallId: string, byMs: number) => Promise<ExtendDeadlineResult>;
  lease: (
    runId: string,
    toolCallId: string,
    holder: string,
    forMs?: number,
  ) => Promise<LeaseCallResult>;
  start: (
    runId: string,
    step: number,
    toolCallId: string,
    token?: number,
  ) => Promise<StartCallResult>;
  finishCall: (
    runId: string,
    step: number,
    toolCallId: string,
    output: unknown,
    token?: number,
    extra?: { hasEvents?: boolean },
  ) => Promise<SettleCallResult>;
  /** Starts a call and settles it with the output. */
  carryOut: (runId: string, step: number, toolCallId: string, output: unknown) => Promise<void>;
  stop: (stop?: Partial<StopRequest> & { runId?: string }) => Promise<StopResult>;
  end: (runId: string, status: EndInput['status'], extra?: Partial<EndInput>) => Promise<EndResult>;
  record: () => Promise<SessionRecord | undefined>;
  /** Rows of the transcript, all by default. */
  rows: (from?: number, to?: number) => Promise<Row[]>;
  view: () => Promise<SessionView | undefined>;
  load: () => ReturnType<Store['documents']['load']>;
  /** Saves the agent's own state over a version. */
  save: (customState: CustomState, version: number) => Promise<{ version: number }>;
  call: (toolCallId: string) => Promise<OpenCall | undefined>;
  pending: () => ReturnType<Store['calls']['pending']>;
  runs: () => Promise<RunInfo[]>;
  queue: () => Promise<QueuedEntry[]>;
  /** Returns those of these messages that were accepted. */
  accepted: (ids: string[]) => Promise<string[]>;
  log: () => Promise<LogEntry[]>;
  messages: <T extends StreamMessage['type']>(
    type: T,
  ) => Promise<Extract<StreamMessage, { type: T }>[]>;
}

interface RewindExtra {
  runId?: string;
  nonce?: string;
  by?: string;
  asker?: KnownPerson;
  now?: number;
}

export function drive(
  { store, streamManager }: { store: Store; streamManager: StreamManager },
  id = newSessionId(),
): SessionDriver {
  let messages = 0;
  const base = (step: number) => ({ agentId: id, agentType: AGENT, step, timestamp: Date.now() });
  const writer = (runId: string, step: number, token: number): Writer => ({
    sessionId: id,
    runId,
    name: formatModelWriter(id, step),
    token,
    agentType: AGENT,
    step,
  });
  const callWriter: SessionDriver['callWriter'] = (runId, step, toolCallId, token) => ({
    ...writer(runId, step, token),
    name: `t:${toolCallId}`,
  });
  const begin: SessionDriver['begin'] = (input = {}) =>
    store.runs.begin({
      sessionId: id,
      agent: AGENT,
      owner: 'ann',
      nonce: newNonce(),
      messages: [userMessage('u1')],
      now: Date.now(),
      ...input,
    });
  const claim: SessionDriver['claim'] = (by, known = 0) =>
    store.steps.claim({ writer: by, known, now: Date.now() });
  const commit: SessionDriver['commit'] = (by, extra = {}) => {
    const calls = extra.calls ?? [];
    const refs = calls.map(({ toolCallId, toolName, kind }) => ({ toolCallId, toolName, kind }));
    return store.steps.commit({
      writer: by,
      known: 0,
      row: assistantRow(by, calls),
      calls,
      chunks: [{ type: 'step_end', ...base(by.step) }],
      outcome:
        calls.length === 0
          ? { kind: 'ended', step: by.step, status: 'completed' }
          : { kind: 'calls', step: by.step, calls: refs },
      checkpointId: formatCheckpointId(by.runId, by.step),
      ...(calls.length === 0 && { final: { status: 'completed' as const } }),
      answersStop: false,
      now: Date.now(),
      ...extra,
    });
  };
  const asked = (runId: string, toolCallId: string) => ({
    sessionId: id,
    agentType: AGENT,
    toolCallId,
    runId,
    chunks: [],
    now: Date.now(),
  });
  const again = async <T extends RewindExtra>(extra?: T) => ({
    sessionId: id,
    runId: (await store.sessions.read(id))?.runId ?? '',
    nonce: newNonce(),
    now: Date.now(),
    ...extra,
  });
  const newRun: SessionDriver['newRun'] = async (message) => {
    messages += 1;
    const id = typeof message === 'string' ? message : `u${String(messages)}`;
    const input = typeof message === 'object' ? message : { messages: [userMessage(id)] };
    const result = await begin(input);
    if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
    return result.run;
  };
  const ask: SessionDriver['ask'] = async (runId, step, calls) => {
    const by = writer(runId, step, step);
    const claimed = await claim(by);
    if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
    return commit(by, { calls });
  };
  const start: SessionDriver['start'] = (runId, step, toolCallId, token = 1) =>
    store.calls.start({
      writer: callWriter(runId, step, toolCallId, token),
      toolCallId,
      now: Date.now(),
    });
  const finishCall: SessionDriver['finishCall'] = (
    runId,
    step,
    toolCallId,
    output,
    token = 1,
    extra = {},
  ) =>
    store.calls.settle({
      source: 'tool',
      writer: callWriter(runId, step, toolCallId, token),
      toolCallId,
      row: { role: 'tool', toolCallId, toolName: 'server-tool', output },
      chunks: [
        { type: 'tool_end', ...base(step), toolCallId, toolName: 'server-tool', result: output },
      ],
      ...extra,
      now: Date.now(),
    });
  const log = (): Promise<LogEntry[]> => streamManager.read(id, 0, 100_000);
  return {
    id,
    begin,
    newRun,
    speaking: async () => {
      const { runId } = await newRun();
      const by = writer(runId, 1, 1);
      await claim(by);
      return { runId, writer: by };
    },
    enqueue: (messageId) => begin({ messages: [userMessage(messageId)], policy: 'queue' }),
    steer: (messageId) => begin({ messages: [userMessage(messageId)], policy: 'steer' }),
    beginNext: () => store.queue.begin({ sessionId: id, nonce: newNonce(), now: Date.now() }),
    resume: (input = {}) =>
      store.runs.resume({
        sessionId: id,
        nonce: newNonce(),
        mode: 'continue',
        now: Date.now(),
        ...input,
      }),
    retry: async (input) => store.runs.rewind({ ...(await again(input)), mode: 'retry' }),
    rewindTo: async (checkpointId, input) =>
      store.runs.rewind({ ...(await again(input)), mode: 'from_checkpoint', checkpointId }),
    writer,
    callWriter,
    claim,
    say: (by, batch, text, known) =>
      streamManager.append(by, batch, [textChunk(text, by.step, id)], known),
    commit,
    ask,
    asked: async (...calls) => {
      const run = await newRun();
      await ask(run.runId, 1, calls);
      return run;
    },
    decide: (runId, toolCallId, approved, extra = {}) => {
      const { now = Date.now(), permitted = true, approver, ...edits } = extra;
      const decision = { approved, at: Date.now() };
      const base = { role: 'tool', toolCallId, toolName: 'approval-tool' } as const;
      const row: ToolRow = { ...base, denied: true, decision };
      return store.calls.settle({
        source: 'approval',
        ...asked(runId, toolCallId),
        decision,
        approver,
        permitted,
        ...edits,
        ...(!approved && { row }),
        now,
      });
    },
    answer: (runId, toolCallId, result, { permitted = true } = {}) =>
      store.calls.settle({
        source: 'client',
        ...asked(runId, toolCallId),
        permitted,
        row: { role: 'tool', toolCallId, toolName: 'client-tool', ...result },
        late: 'Its answer: ' + JSON.stringify(result),
      }),
    expire: (runId, toolCallId, now = Date.now()) =>
      store.calls.settle({
        source: 'expiry',
        ...asked(runId, toolCallId),
        row: {
          role: 'tool',
          toolCallId,
          toolName: 'client-tool',
          error: 'No answer came in time.',
          errorCode: 'client_tool_timeout',
        },
        now,
      }),
    expireAs: (runId, toolCallId, approved) => {
      const decision = { approved, automatic: true, at: 1 };
      const base = { role: 'tool', toolCallId, toolName: 'approval-tool' } as const;
      return store.calls.settle({
        source: 'expiry',
        ...asked(runId, toolCallId),
        decision,
        ...(!approved && { row: { ...base, denied: true, decision } }),
      });
    },
    extend: async (runId, toolCallId, byMs) => {
      const { deadline = 0 } = (await store.calls.read(id, toolCallId)) ?? {};
      const setup = { toolCallId, byMs, deadline, now: Date.now() };
      return store.calls.extendDeadline({ sessionId: id, runId, ...setup });
    },
    lease: (runId, toolCallId, holder, forMs = 60_000) =>
      store.calls.lease({ sessionId: id, runId, toolCallId, holder, forMs }),
    start,
    finishCall,
    carryOut: async (runId, step, toolCallId, output) => {
      await start(runId, step, toolCallId);
      await finishCall(runId, step, toolCallId, output);
    },
    stop: (stop = {}) => store.runs.stop(id, { mode: 'interrupt', ...stop }),
    end: (runId, status, extra = {}) =>
      store.runs.end({
        sessionId: id,
        runId,
        agentType: AGENT,
        step: 1,
        status,
        now: Date.now(),
        ...extra,
      }),
    record: () => store.sessions.read(id),
    rows: (from = 0, to) => store.sessions.rows(id, from, to),
    view: () => store.sessions.view(id),
    load: () => store.documents.load(id),
    save: (customState, version) => store.documents.save(id, { customState, version }),
    call: (toolCallId) => store.calls.read(id, toolCallId),
    pending: () => store.calls.pending(id),
    runs: () => store.runs.list(id),
    queue: () => store.queue.read(id),
    accepted: (ids) => store.sessions.acceptedMessages(id, ids),
    log,
    messages: async (type) =>
      (await log())
        .map(({ message }) => message)
        .filter((message): message is never => message.type === type),
  };
}

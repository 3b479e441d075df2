import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { formatCheckpointId, formatModelWriter } from '../../protocol/ids.js';
import type { KnownPerson } from '../../protocol/actor.js';
import type { ToolRow } from '../../protocol/rows.js';
import type { StopRequest } from '../../protocol/run.js';
import type { CallEdit, NewCall } from '../contract/call-record.js';
import type { SettleCallResult, StartCallResult } from '../contract/calls.js';
import type { CustomState } from '../contract/documents.js';
import type { Writer } from '../contract/log.js';
import type {
  BeginInput,
  BeginResult,
  EndInput,
  ResumeRunInput,
  RunRecord,
  UserMessage,
} from '../contract/runs.js';
import type { ClaimResult, CommitInput, CommitResult } from '../contract/steps.js';
import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { AGENT, assistantRow, newNonce, newSessionId, textChunk, userMessage } from './fixtures.js';

interface RewindExtra {
  runId?: string;
  nonce?: string;
  by?: string;
  asker?: KnownPerson;
  now?: number;
}

export type SessionDriver = ReturnType<typeof drive>;

/** Drives one session change by change, like API and workers. */
export function drive(
  { store, streamManager }: { store: Store; streamManager: StreamManager },
  id = newSessionId(),
) {
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
  const callWriter = (runId: string, step: number, toolCallId: string, token: number): Writer => ({
    ...writer(runId, step, token),
    name: `t:${toolCallId}`,
  });
  const begin = (input: Partial<BeginInput> = {}): Promise<BeginResult> =>
    store.runs.begin({
      sessionId: id,
      agent: AGENT,
      owner: 'ann',
      nonce: newNonce(),
      messages: [userMessage('u1')],
      now: Date.now(),
      ...input,
    });
  const claim = (by: Writer, known = 0): Promise<ClaimResult> =>
    store.steps.claim({ writer: by, known, now: Date.now() });
  const commit = (by: Writer, extra: Partial<CommitInput> = {}): Promise<CommitResult> => {
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
  const newRun = async (message?: string | Partial<BeginInput>): Promise<RunRecord> => {
    messages += 1;
    const id = typeof message === 'string' ? message : `u${String(messages)}`;
    const input = typeof message === 'object' ? message : { messages: [userMessage(id)] };
    const result = await begin(input);
    if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
    return result.run;
  };
  const ask = async (runId: string, step: number, calls: NewCall[]): Promise<CommitResult> => {
    const by = writer(runId, step, step);
    const claimed = await claim(by);
    if (claimed.kind !== 'claimed') throw new Error(`claim replied ${claimed.kind}`);
    return commit(by, { calls });
  };
  const start = (
    runId: string,
    step: number,
    toolCallId: string,
    token = 1,
  ): Promise<StartCallResult> =>
    store.calls.start({
      writer: callWriter(runId, step, toolCallId, token),
      toolCallId,
      now: Date.now(),
    });
  const finishCall = (
    runId: string,
    step: number,
    toolCallId: string,
    output: unknown,
    token = 1,
    extra: { hasEvents?: boolean } = {},
  ): Promise<SettleCallResult> =>
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
    /** Starts a run for one new message, or with this input. */
    newRun,
    /** Starts a run whose first step is claimed. */
    claimed: async () => {
      const { runId } = await newRun();
      const by = writer(runId, 1, 1);
      await claim(by);
      return { runId, writer: by };
    },
    /** Sends a message that may be queued. */
    enqueue: (messageId: string) => begin({ messages: [userMessage(messageId)], policy: 'queue' }),
    /** Sends a message for the run's next step. */
    steer: (messageId: string) => begin({ messages: [userMessage(messageId)], policy: 'steer' }),
    /** Starts a run for queued messages. */
    beginNext: () => store.queue.begin({ sessionId: id, nonce: newNonce(), now: Date.now() }),
    /** Continues the turn of the newest run. */
    resume: (input: Partial<ResumeRunInput> = {}) =>
      store.runs.resume({
        sessionId: id,
        nonce: newNonce(),
        mode: 'continue',
        now: Date.now(),
        ...input,
      }),
    /** Repeats the newest turn, or the turn of the named message. */
    retry: async (input?: RewindExtra & { messageId?: string; messages?: UserMessage[] }) =>
      store.runs.rewind({ ...(await again(input)), mode: 'retry' }),
    /** Returns to a checkpoint. */
    rewindTo: async (checkpointId: string, input?: RewindExtra) =>
      store.runs.rewind({ ...(await again(input)), mode: 'from_checkpoint', checkpointId }),
    writer,
    callWriter,
    claim,
    say: (by: Writer, batch: number, text: string, known?: number) =>
      streamManager.append(by, batch, [textChunk(text, by.step, id)], known),
    commit,
    /** Claims and commits a step with these calls. */
    ask,
    /** Starts a run whose first step has these calls. */
    asked: async (...calls: NewCall[]) => {
      const run = await newRun();
      await ask(run.runId, 1, calls);
      return run;
    },
    decide: (
      runId: string,
      toolCallId: string,
      approved: boolean,
      extra: {
        now?: number;
        permitted?: boolean;
        approver?: KnownPerson;
        edit?: CallEdit;
        shownEdit?: number;
      } = {},
    ) => {
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
    /** Answers with a client's result or error. */
    answer: (
      runId: string,
      toolCallId: string,
      result: { output: unknown } | { error: string },
      { permitted = true }: { permitted?: boolean } = {},
    ) =>
      store.calls.settle({
        source: 'client',
        ...asked(runId, toolCallId),
        permitted,
        row: { role: 'tool', toolCallId, toolName: 'client-tool', ...result },
        late: 'Its answer: ' + JSON.stringify(result),
      }),
    expire: (runId: string, toolCallId: string, now = Date.now()) =>
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
    /** Applies the tool's own rule to an approval that was not answered in time. */
    expireAs: (runId: string, toolCallId: string, approved: boolean) => {
      const decision = { approved, automatic: true, at: 1 };
      const base = { role: 'tool', toolCallId, toolName: 'approval-tool' } as const;
      return store.calls.settle({
        source: 'expiry',
        ...asked(runId, toolCallId),
        decision,
        ...(!approved && { row: { ...base, denied: true, decision } }),
      });
    },
    extend: async (runId: string, toolCallId: string, byMs: number) => {
      const { deadline = 0 } = (await store.calls.read(id, toolCallId)) ?? {};
      const setup = { toolCallId, byMs, deadline, now: Date.now() };
      return store.calls.extendDeadline({ sessionId: id, runId, ...setup });
    },
    lease: (runId: string, toolCallId: string, holder: string, forMs = 60_000) =>
      store.calls.lease({ sessionId: id, runId, toolCallId, holder, forMs }),
    start,
    finishCall,
    /** Starts a call and settles it with the output. */
    carryOut: async (runId: string, step: number, toolCallId: string, output: unknown) => {
      await start(runId, step, toolCallId);
      await finishCall(runId, step, toolCallId, output);
    },
    stop: (stop: Partial<StopRequest> & { runId?: string } = {}) =>
      store.runs.stop(id, { mode: 'interrupt', ...stop }),
    end: (runId: string, status: EndInput['status'], extra: Partial<EndInput> = {}) =>
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
    /** Rows of the transcript, all by default. */
    rows: (from = 0, to?: number) => store.sessions.rows(id, from, to),
    view: () => store.sessions.view(id),
    load: () => store.documents.load(id),
    /** Saves the agent's own state over a version. */
    save: (customState: CustomState, version: number) =>
      store.documents.save(id, { customState, version }),
    call: (toolCallId: string) => store.calls.read(id, toolCallId),
    pending: () => store.calls.pending(id),
    runs: () => store.runs.list(id),
    queue: () => store.queue.read(id),
    /** Returns those of these messages that were accepted. */
    accepted: (ids: string[]) => store.sessions.acceptedMessages(id, ids),
    log,
    messages: async <T extends StreamMessage['type']>(type: T) =>
      (await log())
        .map(({ message }) => message)
        .filter((message): message is Extract<StreamMessage, { type: T }> => message.type === type),
  };
}

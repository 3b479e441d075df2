import { randomBytes } from 'node:crypto';
import type { ChunkOf, LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { formatCheckpointId } from '../../protocol/ids.js';
import type { AssistantRow, ToolRow, UserRow } from '../../protocol/rows.js';
import type {
  BeginInput,
  BeginResult,
  ClaimResult,
  CommitInput,
  CommitResult,
  NewCall,
  RunRecord,
  SettleCallResult,
  UserMessage,
  Writer,
} from '../../stores/session-store.js';
import type { RedisStores } from '../../stores/redis/index.js';

export const AGENT = 'tester';

export function newSessionId(): string {
  return `s-${randomBytes(6).toString('hex')}`;
}

export function newNonce(): string {
  return randomBytes(4).toString('hex');
}

export function userMessage(id: string, text = `hello from ${id}`): UserMessage {
  const row: UserRow = { role: 'user', id, parts: [{ type: 'text', text }] };
  return { id, hash: text, row, hidden: false };
}

/** One session, driven transition by transition, as API and workers would. */
export interface SessionDriver {
  readonly id: string;
  begin: (input?: Partial<BeginInput>) => Promise<BeginResult>;
  /** Begins a run for one new message. */
  newRun: (messageId?: string) => Promise<RunRecord>;
  writer: (runId: string, step: number, token: number) => Writer;
  callWriter: (runId: string, step: number, toolCallId: string, token: number) => Writer;
  claim: (writer: Writer, known?: number) => Promise<ClaimResult>;
  say: (
    writer: Writer,
    batch: number,
    text: string,
  ) => ReturnType<RedisStores['streamManager']['append']>;
  commit: (writer: Writer, extra?: Partial<CommitInput>) => Promise<CommitResult>;
  /** Claims and commits a step that asks for these calls. */
  ask: (runId: string, step: number, calls: NewCall[]) => Promise<CommitResult>;
  decide: (runId: string, toolCallId: string, approved: boolean) => Promise<SettleCallResult>;
  start: (
    runId: string,
    step: number,
    toolCallId: string,
    token?: number,
  ) => ReturnType<RedisStores['store']['startCall']>;
  finishCall: (
    runId: string,
    step: number,
    toolCallId: string,
    output: unknown,
    token?: number,
  ) => Promise<SettleCallResult>;
  log: () => Promise<LogEntry[]>;
  messages: <T extends StreamMessage['type']>(
    type: T,
  ) => Promise<Extract<StreamMessage, { type: T }>[]>;
}

/** A call of the given kind, named after it. */
export function newCall(
  toolCallId: string,
  kind: NewCall['kind'],
  extra: Partial<NewCall> = {},
): NewCall {
  return { toolCallId, toolName: `${kind}-tool`, kind, input: { of: toolCallId }, ...extra };
}

export function drive(
  { store, streamManager }: Pick<RedisStores, 'store' | 'streamManager'>,
  id = newSessionId(),
): SessionDriver {
  let messages = 0;
  const base = (
    step: number,
  ): { agentId: string; agentType: string; step: number; timestamp: number } => ({
    agentId: id,
    agentType: AGENT,
    step,
    timestamp: Date.now(),
  });
  const writer = (runId: string, step: number, token: number): Writer => ({
    sessionId: id,
    runId,
    name: `m${String(step)}`,
    token,
    agentType: AGENT,
    step,
  });
  const callWriter: SessionDriver['callWriter'] = (runId, step, toolCallId, token) => ({
    ...writer(runId, step, token),
    name: `t:${toolCallId}`,
  });
  const textOf = (step: number, delta: string): ChunkOf<'text_delta'> => ({
    type: 'text_delta',
    ...base(step),
    delta,
  });
  const begin: SessionDriver['begin'] = (input = {}) =>
    store.begin({
      sessionId: id,
      agent: AGENT,
      owner: 'ann',
      nonce: newNonce(),
      messages: [userMessage('u1')],
      now: Date.now(),
      ...input,
    });
  const commit: SessionDriver['commit'] = (by, extra = {}) => {
    const calls = extra.calls ?? [];
    const row: AssistantRow = {
      role: 'assistant',
      messageId: 'msg-?',
      runId: by.runId,
      step: by.step,
      parts: [
        { type: 'text', text: `step ${String(by.step)}` },
        ...calls.map((call) => ({
          type: 'tool-call' as const,
          toolCallId: call.toolCallId,
          toolName: call.toolName,
          input: call.input,
          kind: call.kind,
        })),
      ],
    };
    return store.commit({
      writer: by,
      row,
      calls,
      chunks: [{ type: 'step_end', ...base(by.step) }],
      outcome:
        calls.length === 0
          ? { kind: 'ended', step: by.step, status: 'completed' }
          : {
              kind: 'calls',
              step: by.step,
              calls: calls.map(({ toolCallId, toolName, kind }) => ({
                toolCallId,
                toolName,
                kind,
              })),
            },
      checkpointId: formatCheckpointId(by.runId, by.step),
      ...(calls.length === 0 && { final: { status: 'completed' as const } }),
      answersStop: false,
      known: 0,
      now: Date.now(),
      ...extra,
    });
  };
  const log = (): Promise<LogEntry[]> => streamManager.read(id, 0, 100_000);
  return {
    id,
    begin,
    newRun: async (messageId) => {
      messages += 1;
      const result = await begin({ messages: [userMessage(messageId ?? `u${String(messages)}`)] });
      if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
      return result.run;
    },
    writer,
    callWriter,
    claim: (by, known = 0) => store.claim({ writer: by, known, now: Date.now() }),
    say: (by, batch, text) => streamManager.append(by, batch, [textOf(by.step, text)]),
    commit,
    ask: async (runId, step, calls) => {
      const by = writer(runId, step, step);
      const claim = await store.claim({ writer: by, known: 0, now: Date.now() });
      if (claim.kind !== 'claimed') throw new Error(`claim replied ${claim.kind}`);
      return commit(by, { calls });
    },
    decide: (runId, toolCallId, approved) => {
      const decision = { approved, at: Date.now() };
      const row: ToolRow = {
        role: 'tool',
        toolCallId,
        toolName: 'approval-tool',
        denied: true,
        decision,
      };
      return store.settleCall({
        source: 'approval',
        sessionId: id,
        agentType: AGENT,
        toolCallId,
        runId,
        decision,
        ...(!approved && { row }),
        chunks: [],
        now: Date.now(),
      });
    },
    start: (runId, step, toolCallId, token = 1) =>
      store.startCall({
        writer: callWriter(runId, step, toolCallId, token),
        toolCallId,
        now: Date.now(),
      }),
    finishCall: (runId, step, toolCallId, output, token = 1) =>
      store.settleCall({
        source: 'tool',
        writer: callWriter(runId, step, toolCallId, token),
        toolCallId,
        row: { role: 'tool', toolCallId, toolName: 'server-tool', output },
        chunks: [
          { type: 'tool_end', ...base(step), toolCallId, toolName: 'server-tool', result: output },
        ],
        now: Date.now(),
      }),
    log,
    messages: async (type) =>
      (await log())
        .map(({ message }) => message)
        .filter((message): message is never => message.type === type),
  };
}

/** The text that a log tells, in order. */
export function textIn(entries: readonly LogEntry[]): string {
  return entries
    .map(({ message }) => (message.type === 'text_delta' ? message.delta : ''))
    .join('');
}

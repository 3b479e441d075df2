import { randomBytes } from 'node:crypto';
import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import type { Resumption } from '../protocol/run.js';
import type { RunRecord } from '../stores/contract/runs.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import type { AgentExecutor, ResumeInput, ResumeResult, RetryInput } from './agent-executor.js';
import { decideResume } from './can-resume.js';

/** A run is looked at by the sweeper this long after it was made. */
export const FIRST_SWEEP_MS = 3_000;

export interface RerunDeps {
  store: Pick<Store, 'runs' | 'sessions' | 'due'>;
  execute: AgentExecutor['execute'];
  stop: AgentExecutor['stop'];
  /** Starts the workflow of a run beside what the caller does. */
  launch: (run: RunRecord, tenant: string | undefined) => void;
  wake: (record: SessionRecord, resume: Resumption) => Promise<void>;
  /** Takes note of a signal that did not arrive; the sweeper gives it again. */
  lostSignal: (runId: string) => (error: unknown) => void;
}

/** Runs for turns that had one. As with any run, the record is written first and then the workflow is started. */
export function createReruns(
  deps: RerunDeps,
): Pick<AgentExecutor, 'resume' | 'retry' | 'canResume'> {
  const { store, execute, stop, launch, wake, lostSignal } = deps;

  async function existing(sessionId: string): Promise<SessionRecord> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined) throw notFound();
    return record;
  }

  async function goOn(input: ResumeInput, record: SessionRecord): Promise<ResumeResult> {
    const { sessionId, runId, by, mode } = input;
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    const result = await store.runs.resume({
      sessionId,
      nonce: newNonce(),
      mode: mode === 'with_confirmation' ? mode : 'continue',
      ...(runId !== undefined && { runId }),
      ...(by !== undefined && { by }),
      now: Date.now(),
    });
    switch (result.kind) {
      case 'resumed':
        launch(result.run, record.tenant);
        return result;
      case 'active':
        if (record.resume !== undefined && record.resumeTaken !== true) {
          await wake(record, record.resume).catch(lostSignal(result.runId));
        }
        return result;
      case 'stale_run':
        throw staleRun(result.runId);
      case 'final':
        throw new HelixError('not_resumable', 'There is nothing to go on with.', {
          detail: { status: result.status },
        });
      case 'not_found':
        throw notFound();
    }
  }

  async function goOnWithMessage(
    { sessionId, messages = [], by }: ResumeInput,
    { agent, owner, tenant, runId }: SessionRecord,
  ): Promise<ResumeResult> {
    if (messages.length === 0) throw new HelixError('nothing_to_do', 'There is no message.');
    const result = await execute({
      sessionId,
      agent,
      owner,
      ...(tenant !== undefined && { tenant }),
      messages,
      resumed: by === undefined ? {} : { by },
    });
    switch (result.kind) {
      case 'begun':
        return { kind: 'resumed', run: result.run };
      case 'accepted':
        return { kind: 'active', runId };
      case 'queued':
        return { kind: 'active', runId: result.begun?.runId ?? runId };
      case 'busy':
      case 'queue_full':
      case 'steered':
      case 'interrupting':
        throw new AgentAlreadyRunningError(sessionId);
      case 'conflict':
        throw messageConflict(result.messageId);
      case 'foreign':
      case 'agent_mismatch':
        // It was erased since it was read, and begun anew by somebody else.
        throw notFound();
    }
  }

  /** Nobody answers what a turn asked that is done again. */
  async function atRest({ sessionId, by }: RetryInput): Promise<SessionRecord> {
    const record = await existing(sessionId);
    if (record.stream !== 'paused') return record;
    const { runId } = record;
    const who = by === undefined ? {} : { by };
    await stop(sessionId, { mode: 'interrupt', runId, reason: 'superseded', ...who });
    return existing(sessionId);
  }

  async function doAgain(
    { sessionId, checkpointId, messageId, messages, by }: RetryInput,
    { runId, tenant }: SessionRecord,
  ): Promise<RunRecord> {
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    const result = await store.runs.rewind({
      sessionId,
      runId,
      nonce: newNonce(),
      ...(by !== undefined && { by }),
      now: Date.now(),
      ...(checkpointId === undefined
        ? {
            mode: 'retry' as const,
            ...(messageId !== undefined && { messageId }),
            ...(messages !== undefined && { messages }),
          }
        : { mode: 'from_checkpoint' as const, checkpointId }),
    });
    switch (result.kind) {
      case 'rewound':
        launch(result.run, tenant);
        return result.run;
      case 'busy':
        throw new AgentAlreadyRunningError(sessionId);
      case 'stale_run':
        throw staleRun(result.runId);
      case 'checkpoint_not_found':
        throw new HelixError(result.kind, 'This conversation has no such checkpoint.');
      case 'conflict':
        throw messageConflict(result.messageId);
      case 'message_not_found':
        throw new HelixError(result.kind, 'This conversation has no such message.');
      case 'not_found':
        throw notFound();
    }
  }

  async function goOnFrom(input: ResumeInput, record: SessionRecord): Promise<ResumeResult> {
    const { sessionId, runId, checkpointId, by } = input;
    if (checkpointId === undefined) {
      throw new HelixError('validation_error', 'Name the checkpoint to go on from.');
    }
    if (runId !== undefined && runId !== record.runId) throw staleRun(record.runId);
    const who = by === undefined ? {} : { by };
    return { kind: 'resumed', run: await doAgain({ sessionId, checkpointId, ...who }, record) };
  }

  return {
    retry: async (input) => doAgain(input, await atRest(input)),
    canResume: async (sessionId) => decideResume(await store.sessions.read(sessionId)),
    resume: async (input) => {
      const record = await existing(input.sessionId);
      if (input.mode === 'with_message') return goOnWithMessage(input, record);
      return input.mode === 'from_checkpoint' ? goOnFrom(input, record) : goOn(input, record);
    },
  };
}

export function newNonce(): string {
  return randomBytes(6).toString('hex');
}

function messageConflict(messageId: string): HelixError {
  return new HelixError('message_conflict', 'This message was sent before, with other content.', {
    detail: { messageId },
  });
}

function staleRun(runId: string): HelixError {
  return new HelixError('stale_run', 'Another run is the newest of this conversation.', {
    detail: { runId },
  });
}

function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}

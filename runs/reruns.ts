import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import { toActingPerson } from '../protocol/responder.js';
import type { RunRecord } from '../store/contract/runs.js';
import type { AuditAction } from '../store/contract/audit.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { toAct } from './record/acts.js';
import { readInput, type AgentInput } from './agent-input.js';
import { FIRST_SWEEP_MS, newNonce, type RunsCore } from './core.js';
import type { ResumeInput, ResumeResult, Resumability, RetryInput, Runs } from './runs.js';
import { messageConflict, notFound, noSuchCheckpoint, noSuchMessage } from './refusals.js';
import type { Starts } from './starts.js';
import type { Stops } from './stops.js';

type Rewinding = RetryInput & { action?: Extract<AuditAction, 'resume' | 'retry'> };

/** Creates further runs of a turn: writes the record, then starts the workflow. */
export function createReruns(
  deps: RunsCore &
    Stops &
    Starts &
    Pick<Runs, 'execute'> & {
      requireAgent: (agent: string) => void;
    },
): Pick<Runs, 'resume' | 'retry' | 'canResume'> {
  const { store, execute, stop, launch, wake, lostSignal } = deps;

  async function existing(sessionId: string): Promise<SessionRecord> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined) throw notFound();
    return record;
  }

  async function continueRun(input: ResumeInput, record: SessionRecord): Promise<ResumeResult> {
    const { sessionId, runId, by, reason, mode } = input;
    deps.requireAgent(record.agent);
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    const asker = toActingPerson(input, record.tenant);
    const result = await store.runs.resume({
      sessionId,
      nonce: newNonce(),
      asker,
      mode: mode === 'with_confirmation' ? mode : 'continue',
      runId,
      by,
      now: Date.now(),
      act: toAct('resume', input, { reason }),
    });
    switch (result.kind) {
      case 'resumed':
        launch(result.run, record.tenant);
        return result;
      case 'active':
        if (record.resume !== undefined && record.resumeTaken !== true) {
          await wake(record.runId).catch(lostSignal(result.runId));
        }
        return result;
      case 'stale_run':
        throw staleRun(result.runId);
      case 'final':
        throw new HelixError('not_resumable', 'There is nothing to continue.', {
          detail: { status: result.status },
        });
      case 'not_found':
        throw notFound();
    }
  }

  async function continueWithMessage(
    { sessionId, messages = [], ...input }: ResumeInput,
    { agent, owner, tenant, runId }: SessionRecord,
  ): Promise<ResumeResult> {
    if (messages.length === 0) throw new HelixError('nothing_to_do', 'There is no message.');
    const { by } = input;
    const asker = toActingPerson(input, tenant);
    const result = await execute({
      sessionId,
      agent,
      owner,
      tenant,
      messages,
      resumed: { by },
      ...(asker && { askers: [asker] }),
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
        // The session was erased after the read, and another owner has begun it again.
        throw notFound();
    }
  }

  /** Interrupts a waiting run, since the calls of a repeated turn need no answers. */
  async function stopWaiting({ sessionId, runId: wanted, by }: RetryInput): Promise<SessionRecord> {
    const record = await existing(sessionId);
    if (wanted !== undefined && wanted !== record.runId) throw staleRun(record.runId);
    if (record.stream !== 'paused') return record;
    const { runId, queued } = record;
    // The end of this run would begin the turn of the queued messages.
    if (queued > 0) throw new AgentAlreadyRunningError(sessionId);
    await stop(sessionId, { mode: 'interrupt', runId, reason: 'superseded', by });
    return existing(sessionId);
  }

  async function rewind(
    { sessionId, checkpointId, messageId, messages, action = 'retry', ...input }: Rewinding,
    { agent, runId, tenant }: SessionRecord,
  ): Promise<RunRecord> {
    const { by, reason } = input;
    deps.requireAgent(agent);
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    const asker = toActingPerson(input, tenant);
    const result = await store.runs.rewind({
      sessionId,
      runId,
      asker,
      nonce: newNonce(),
      by,
      now: Date.now(),
      act: toAct(action, input, { reason }),
      ...(checkpointId === undefined
        ? { mode: 'retry' as const, messageId, messages }
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
        throw noSuchCheckpoint();
      case 'conflict':
        throw messageConflict(result.messageId);
      case 'message_not_found':
        throw noSuchMessage();
      case 'not_found':
        throw notFound();
    }
  }

  async function continueFromCheckpoint(
    input: ResumeInput,
    record: SessionRecord,
  ): Promise<ResumeResult> {
    const { runId, checkpointId } = input;
    if (checkpointId === undefined) {
      throw new HelixError('validation_error', 'Name the checkpoint to continue from.');
    }
    if (runId !== undefined && runId !== record.runId) throw staleRun(record.runId);
    return {
      kind: 'resumed',
      run: await rewind({ ...input, checkpointId, action: 'resume' }, record),
    };
  }

  return {
    retry: async (input) => rewind(input, await stopWaiting(input)),
    canResume: async (sessionId) => decideResume(await store.sessions.read(sessionId)),
    resume: async (input) => {
      const record = await existing(input.sessionId);
      if (input.mode === 'with_message') return continueWithMessage(input, record);
      return input.mode === 'from_checkpoint'
        ? continueFromCheckpoint(input, record)
        : continueRun(input, record);
    },
  };
}

function staleRun(runId: string): HelixError {
  return new HelixError('stale_run', 'Another run is the newest of this conversation.', {
    detail: { runId },
  });
}

/** Options of a resumption. */
export interface ResumeOptions {
  /**
   * Default: `with_message` if there is a message, else `continue`, which starts where the run was
   * interrupted. `with_confirmation` is the same, and records who confirmed.
   */
  mode?: NonNullable<ResumeInput['mode']>;
  /** Begins a new turn of the session. */
  message?: AgentInput;
  /** For `from_checkpoint`: everything after it is dropped for good. */
  checkpointId?: string;
  /** The caller, for the record. */
  by?: string;
}

export async function resumeSession(
  runs: Pick<Runs, 'resume'>,
  { sessionId, runId, message, ...options }: ResumeOptions & { sessionId: string; runId?: string },
): Promise<string> {
  const mode = options.mode ?? (message === undefined ? 'continue' : 'with_message');
  const messages = message === undefined ? undefined : readInput(message, {}).messages;
  const result = await runs.resume({
    sessionId,
    ...options,
    mode,
    runId,
    messages,
  });
  return result.kind === 'resumed' ? result.run.runId : result.runId;
}

/** Decides from the record if a session can be resumed; the store decides again. Pure. */
export function decideResume(
  record: Pick<SessionRecord, 'status' | 'error' | 'checkpointId'> | undefined,
): Resumability {
  if (record === undefined) return { canResume: false, reason: 'not_found', modes: [] };
  const { status, error, checkpointId } = record;
  const again: Resumability['modes'] = ['with_message', 'retry'];
  if (checkpointId !== undefined) again.push('from_checkpoint');
  switch (status) {
    case 'starting':
    case 'running':
    case 'waiting_children':
      return { canResume: false, reason: 'running', modes: [] };
    case 'waiting_approval':
    case 'waiting_tool':
      // A new message instead of the answer is abandonment.
      return { canResume: false, reason: 'waiting', modes: ['with_message'] };
    case 'failed':
      if (error?.retryable !== true) return { canResume: false, reason: status, modes: again };
      return { canResume: true, modes: ['continue', 'with_confirmation', ...again] };
    case 'interrupted':
      return { canResume: true, modes: ['continue', 'with_confirmation', ...again] };
    case 'completed':
    case 'aborted':
      return { canResume: false, reason: status, modes: again };
  }
}

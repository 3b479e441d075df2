import { HelixError } from '../protocol/errors.js';
import { toActingPerson, type Actor } from '../protocol/actor.js';
import type { RunRecord } from '../store/contract/runs.js';
import type { AuditAction } from '../store/contract/audit.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { toAct } from './record/acts.js';
import { readInput, type AgentInput } from './agent-input.js';
import { FIRST_SWEEP_MS, newNonce, type RunsCore } from './deps.js';
import type { ResumeInput, ResumeResult, Resumability, RetryInput, Runs } from './runs.js';
import { refusal, toRefusal } from './refusals.js';
import type { Starts } from './starts.js';
import type { Stops } from './stops.js';

/** Longest wait for a stopped run, ms; without its worker, it is ended after 2 s. */
const STOPPED_WITHIN_MS = 5_000;

/** Creates further runs of a turn: writes the record, then starts the workflow. */
export function createReruns(
  deps: RunsCore &
    Stops &
    Starts &
    Pick<Runs, 'execute'> & {
      requireAgent: (agent: string) => void;
    },
): Pick<Runs, 'resume' | 'retry' | 'canResume'> {
  const { store, streamManager, execute, stop, launch, wake, lostSignal } = deps;

  async function existing(sessionId: string): Promise<SessionRecord> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined) throw refusal('not_found');
    return record;
  }

  /** Has the sweeper check the run that is about to be stored; returns what names it. */
  async function announce(
    action: Extract<AuditAction, 'resume' | 'retry'>,
    { by, reason, ...actor }: Actor & { reason?: string | undefined },
    { sessionId, agent, tenant }: SessionRecord,
  ) {
    deps.requireAgent(agent);
    await store.due.note(sessionId, FIRST_SWEEP_MS);
    return {
      sessionId,
      nonce: newNonce(),
      by,
      asker: toActingPerson({ by, ...actor }, tenant),
      now: Date.now(),
      act: toAct(action, { by, ...actor }, { reason }),
    };
  }

  async function continueRun(
    { runId, mode, ...input }: ResumeInput,
    record: SessionRecord,
  ): Promise<ResumeResult> {
    const result = await store.runs.resume({
      ...(await announce('resume', input, record)),
      mode: mode === 'with_confirmation' ? mode : 'continue',
      runId,
    });
    if (result.kind === 'resumed') launch(result.run, record.tenant);
    else if (result.kind !== 'active') throw toRefusal(record.sessionId, result);
    else if (record.resume !== undefined && record.resumeTaken !== true) {
      await wake(record.runId).catch(lostSignal(result.runId));
    }
    return result;
  }

  async function continueWithMessage(
    { messages = [], ...input }: ResumeInput,
    { sessionId, agent, owner, tenant, runId }: SessionRecord,
  ): Promise<ResumeResult> {
    if (messages.length === 0) throw new HelixError('nothing_to_do', 'There is no message.');
    const asker = toActingPerson(input, tenant);
    const result = await execute({
      sessionId,
      agent,
      owner,
      tenant,
      messages,
      resumed: { by: input.by },
      ...(asker && { askers: [asker] }),
    });
    if (result.kind === 'begun') return { kind: 'resumed', run: result.run };
    if (result.kind === 'accepted') return { kind: 'active', runId };
    if (result.kind === 'queued') return { kind: 'active', runId: result.begun?.runId ?? runId };
    throw toRefusal(sessionId, result);
  }

  /** Ends a run whose turn is repeated, and waits for its end. */
  async function giveUp({ sessionId, runId, sequence }: SessionRecord, actor: Actor) {
    const reason = 'superseded';
    const act = toAct('stop', actor, { reason });
    const { kind } = await stop(sessionId, { mode: 'interrupt', runId, reason, by: actor.by, act });
    if (kind !== 'stopping') return;
    const signal = AbortSignal.timeout(STOPPED_WITHIN_MS);
    for await (const entries of streamManager.follow(sessionId, sequence, signal)) {
      if (entries.some(({ message }) => message.type === 'stream_end')) return;
    }
  }

  async function rewind(
    action: 'resume' | 'retry',
    { checkpointId, messageId, messages, stops, ...input }: RetryInput,
    record: SessionRecord,
  ): Promise<RunRecord> {
    const result = await store.runs.rewind({
      ...(await announce(action, input, record)),
      runId: record.runId,
      stops,
      ...(checkpointId === undefined
        ? { mode: 'retry' as const, messageId, messages }
        : { mode: 'from_checkpoint' as const, checkpointId }),
    });
    // The end of a run would begin the turn of queued messages.
    if (result.kind === 'busy' && stops === record.runId && record.queued === 0) {
      await giveUp(record, input);
      const wanted = { checkpointId, messageId, messages, ...input };
      // A turn that another request has begun meanwhile stays.
      return rewind(action, wanted, { ...(await existing(record.sessionId)), runId: record.runId });
    }
    if (result.kind !== 'rewound') throw toRefusal(record.sessionId, result);
    launch(result.run, record.tenant);
    return result.run;
  }

  return {
    retry: async ({ runId, ...input }) => {
      const record = await existing(input.sessionId);
      requireNewest(record, runId);
      // The calls of a repeated turn need no answers.
      const stops = record.stream === 'paused' ? record.runId : input.stops;
      return rewind('retry', { ...input, stops }, record);
    },
    canResume: async (sessionId) => decideResume(await store.sessions.read(sessionId)),
    resume: async (input) => {
      const record = await existing(input.sessionId);
      const { mode, runId, ...wanted } = input;
      if (mode === 'with_message') return continueWithMessage(input, record);
      if (mode !== 'from_checkpoint') return continueRun(input, record);
      if (wanted.checkpointId === undefined) {
        throw new HelixError('validation_error', 'Name the checkpoint to continue from.');
      }
      requireNewest(record, runId);
      return { kind: 'resumed', run: await rewind('resume', wanted, record) };
    },
  };
}

function requireNewest({ runId }: SessionRecord, wanted = runId): void {
  if (wanted !== runId) throw refusal('stale_run', { runId });
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

/** Decides from the record whether a session can be resumed; the store decides again. Pure. */
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

import { setTimeout } from 'node:timers/promises';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { StateError } from '../../agents/state-error.js';
import { resolveModel } from '../../agents/model.js';
import type { RunActivities, StepRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import {
  isTerminal,
  type RunError,
  type StepOutcome,
  type StopRequest,
} from '../../protocol/run.js';
import { endSilent } from '../../stores/record/end-silent.js';
import { addUsage } from '../../stores/record/run-usage.js';
import { modelWriter, openAttempt, type Attempt } from '../attempt.js';
import { createChunkWriter, type ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { isPoison } from '../poison.js';
import { createRowsCache } from '../rows-cache.js';
import { askModel } from './ask-model.js';
import { callIdsOf } from './call-ids.js';
import { toCallOptions, type AskedStep } from './call-options.js';
import { toLoggedError } from './logged-error.js';
import { toProviderFailure, type ProviderFailure } from './provider-failure.js';
import { nextWait } from './retry-budget.js';
import { hasReached } from './spending.js';
import { takeInState } from '../agent-state.js';
import { createStepCommit } from './step-commit.js';
import { SPEND_CAP_REACHED } from './step-outcome.js';
import { createStepReply, type StepReply } from './step-reply.js';
import { callIdTaker, createQuietness } from './sub-agents.js';

/**
 * One step: claim it, stream the model's reply into the log, commit it. A provider that fails is
 * asked again within the same activity, so that its `Retry-After` is kept to the millisecond; for
 * longer waits the activity is left, and Temporal begins its next attempt. The count of failures is in
 * Redis and outlives a worker.
 */
export function createModelStep(deps: ActivityDeps): RunActivities['modelStep'] {
  const { store, streamManager, agents, logger } = deps;
  const rowsCache = createRowsCache(store.sessions);

  return async (ref) => {
    const progress = { step: ref.step, sequence: 0, failures: 0 };
    const attempt = openAttempt(() => progress, deps.unansweredMs);
    const writer = modelWriter(ref, attempt.token);
    let unlisten: (() => void) | undefined;
    try {
      // Listening starts before the claim, so that no stop falls between the two.
      unlisten = await streamManager.onStop(ref.sessionId, () => {
        attempt.cut('stop');
      });
      if (ref.parent !== undefined && ref.step === 1) {
        const { sessionId, runId, agent } = ref;
        const child = { sessionId, runId, agent };
        const begun = await store.runs.beginChild({ child, parent: ref.parent, now: Date.now() });
        if (begun.kind !== 'begun') return await endedElsewhere(ref);
      }
      const claim = await store.steps.claim({ writer, known: ref.known, now: Date.now() });
      if (claim.kind === 'done') return claim.outcome;
      if (claim.kind === 'stopped') return await endStopped(ref, claim.stop);
      if (claim.kind === 'superseded') return await endedElsewhere(ref);
      if (claim.kind === 'not_ready') return { kind: 'not_ready' };
      if (claim.kind === 'fenced') throw fenced();
      if (claim.kind === 'rewound') return await endRewound(ref, ref.known);
      Object.assign(progress, { sequence: claim.sequence, failures: claim.failures });

      const agent = agents.resolve(ref.agent, { sessionId: ref.sessionId, runId: ref.runId });
      // Asked for in one breath: each wait for Redis is one before the model speaks.
      const [taken, rows] = await Promise.all([
        agent.stateSchema && takeInState(store, agent.stateSchema, ref.sessionId),
        rowsCache.load({ ...ref, born: claim.born }, claim.rowCount),
      ]);
      const chunks = createChunkWriter(
        streamManager,
        writer,
        {
          stop: () => {
            attempt.cut('stop');
          },
          lost: (loss) => {
            attempt.cut(loss);
          },
        },
        claim.sequence,
      );
      let used = claim.usage;
      // By this clock, when the first of the step's failures was.
      const claimedAt = performance.now();
      let failingSince = claim.failures > 0 ? claimedAt - claim.failingForMs : undefined;
      const hasDroppedCalls = claim.hasDroppedCalls === true;
      for (;;) {
        const reply = createStepReply(
          { agentId: ref.sessionId, agentType: ref.agent, step: ref.step },
          callIdsOf(rows),
          Date.now,
          createQuietness(agent, ref.sessionId),
        );
        // Attempts that only waited are no tries.
        const tries = Math.max(1, attempt.number - claim.waits) + progress.failures;
        if (taken !== undefined && taken.added.length > 0) {
          const base = { agentId: ref.sessionId, agentType: ref.agent, step: ref.step };
          const patches = taken.added;
          chunks.push([{ type: 'state_patch', ...base, timestamp: Date.now(), patches }]);
        }
        const { state = {} } = taken ?? {};
        const failure: ProviderFailure | undefined = hasReached(agent.spendCap, used)
          ? SPEND_CAP_REACHED
          : await speak({
              ref,
              attempt,
              tries,
              agent,
              state,
              rows,
              reply,
              chunks,
              hasDroppedCalls,
            });
        const lost = chunks.lost();
        if (lost === 'superseded') return await endedElsewhere(ref);
        if (lost === 'fenced') throw fenced();
        if (lost === 'rewound') return await endRewound(ref, chunks.known());
        const commit = createStepCommit(deps, {
          ref,
          writer,
          agent,
          messageId: claim.messageId,
          reply,
          known: chunks.known,
          used,
        });
        if (attempt.cutReason() === 'stop') return await settled(ref, commit.stopped());
        if (failure === undefined) return await settled(ref, commit.complete());
        const failedAt = performance.now();
        failingSince ??= failedAt;
        const failing = { failures: progress.failures + 1, forMs: failedAt - failingSince };
        const wait = failure.retryable
          ? nextWait(failing, failure.retryAfterMs, agent.llmConfig)
          : undefined;
        // Out of tries: the partial reply is kept and the run fails.
        if (wait === undefined) return await settled(ref, commit.failed(failure));
        const isLong = wait > LIMITS.waitInPlaceMs;
        const discard = await store.steps.discard({
          writer,
          failure: progress.failures + 1,
          reason: failure.code,
          ...(isLong && { waitMs: wait }),
          ...(commit.usage !== undefined && { usage: commit.usage }),
          now: Date.now(),
        });
        if (discard.kind === 'superseded') return await endedElsewhere(ref);
        if (discard.kind === 'fenced') throw fenced();
        progress.failures = discard.failures;
        used = addUsage(used, commit.usage);
        if (isLong) throw waitingForProvider(wait);
        await pause(wait, attempt.signal);
      }
    } catch (error) {
      const isState = error instanceof StateError;
      if (!isState && !isPoison(error, attempt.number)) throw error;
      logger.warn(
        { err: error, runId: ref.runId, step: ref.step },
        'the step cannot be carried out',
      );
      return await endPoisoned(ref, isState ? error.code : 'framework_internal_error');
    } finally {
      unlisten?.();
      attempt.close();
    }
  };

  async function settled(
    ref: StepRef,
    commit: Promise<StepOutcome | 'rewound'>,
  ): Promise<StepOutcome> {
    const outcome = await commit;
    if (outcome === 'rewound') return endRewound(ref, ref.known);
    return outcome.kind === 'superseded' ? endedElsewhere(ref) : outcome;
  }

  /**
   * A claim that found a stop: no model call, the run ends as the stop says. What an attempt before
   * had said stays, since people saw it.
   */
  async function endStopped(ref: StepRef, { mode }: StopRequest): Promise<StepOutcome> {
    const record = await store.sessions.read(ref.sessionId);
    if (record?.runId !== ref.runId) return { kind: 'superseded' };
    const status = mode === 'abort' ? 'aborted' : 'interrupted';
    await endSilent(deps, record, { status, now: Date.now() });
    return endedElsewhere(ref);
  }

  /** The store has lost what this run did: nothing is written over the gap. */
  async function endRewound(ref: StepRef, known: number): Promise<StepOutcome> {
    const { sessionId, runId, agent: agentType, step } = ref;
    logger.warn({ runId, step, known }, 'the store is older than the run: it was restored');
    const error: RunError = {
      code: 'state_lost',
      message: 'Part of this conversation was lost. Send a message to go on.',
      retryable: false,
    };
    const end = { sessionId, runId, agentType, step, floor: known, now: Date.now() };
    await store.runs.end({ ...end, status: 'failed', error });
    return { kind: 'ended', step, status: 'failed', error };
  }

  async function endPoisoned(ref: StepRef, code: string): Promise<StepOutcome> {
    const error: RunError = {
      code,
      message: 'The agent could not go on.',
      retryable: false,
    };
    const { sessionId, runId, agent: agentType, step } = ref;
    await store.runs.end({
      sessionId,
      runId,
      agentType,
      step,
      status: 'failed',
      error,
      now: Date.now(),
    });
    return endedElsewhere(ref);
  }

  /** A run that was ended by somebody else, a stop for instance, still says how it ended. */
  async function endedElsewhere({ sessionId, runId, step }: StepRef): Promise<StepOutcome> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId || !isTerminal(record.status)) return { kind: 'superseded' };
    const { status, error } = record;
    return { kind: 'ended', step, status, ...(error !== undefined && { error }) };
  }

  /** Streams the model's reply; resolves with the provider's failure if there was one. */
  async function speak({
    attempt,
    reply,
    chunks,
    ...asked
  }: SpokenTurn): Promise<ProviderFailure | undefined> {
    const { ref, agent } = asked;
    const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
    let failure: ProviderFailure | undefined;
    try {
      const model = resolveModel(agent.llmConfig.model);
      const hookSignal = AbortSignal.any([attempt.signal, AbortSignal.timeout(stallTimeoutMs)]);
      const options = await toCallOptions(asked, hookSignal);
      const { signal } = attempt;
      const takeCallId = callIdTaker(store, ref, agent, asked.hasDroppedCalls);
      await askModel({ model, options, signal, stallTimeoutMs, reply, chunks, takeCallId });
    } catch (error) {
      if (attempt.cancelled()) throw new CancelledFailure('the worker goes away');
      if (attempt.cutReason() === undefined) {
        const err = toLoggedError(error);
        logger.warn({ err, runId: ref.runId, step: ref.step }, 'model call failed');
        failure = toProviderFailure(error);
      }
    }
    await chunks.flush();
    return failure;
  }
}

interface SpokenTurn extends AskedStep {
  attempt: Attempt;
  reply: StepReply;
  chunks: ChunkWriter;
  /** Calls were made that the rows do not show. */
  hasDroppedCalls: boolean;
}

/** Waits; a signal ends the wait early, and the next model call sees the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}

/** Ends the attempt; the next one begins when the provider is to be asked again. */
function waitingForProvider(ms: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'the model provider fails and is asked again later',
    type: 'provider_wait',
    nextRetryDelay: ms,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Retryable: if this attempt is current after all, the next one has a higher token. */
function fenced(): ApplicationFailure {
  return ApplicationFailure.create({ message: 'another attempt owns this step', type: 'fenced' });
}

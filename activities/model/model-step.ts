import { setTimeout } from 'node:timers/promises';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { StateError } from '../../agents/tool-error.js';
import { resolveModel } from '../../agents/model.js';
import type { RunActivities, StepRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import type { StepOutcome } from '../../protocol/run.js';
import { addUsage } from '../../stores/record/run-usage.js';
import { modelWriter, openAttempt, type Attempt } from '../attempt.js';
import { cutOnStop } from '../cut-on-stop.js';
import { createChunkWriter, type ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { handOver } from '../hand-over.js';
import { createAgentLookup } from '../run-agent.js';
import { createRowsCache } from '../rows-cache.js';
import { createOwnerLookup } from '../session-owners.js';
import { askModel } from './ask-model.js';
import { callIdsOf } from './call-ids.js';
import { toCallOptions, type AskedStep } from './call-options.js';
import { toLoggedError } from './logged-error.js';
import { toProviderFailure, type ProviderFailure } from './provider-failure.js';
import { nextWait } from './retry-budget.js';
import { hasReached } from './spending.js';
import { takeInState } from '../agent-state.js';
import { createStepCommit } from './step-commit.js';
import { createStepEndings } from './step-endings.js';
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
  const { store, streamManager, logger } = deps;
  const findAgent = createAgentLookup(deps.agents, createOwnerLookup(store.sessions));
  const rowsCache = createRowsCache(store.sessions);
  const endings = createStepEndings(deps);

  return async (ref) => {
    const progress = { step: ref.step, sequence: 0, failures: 0 };
    const attempt = openAttempt(() => progress, deps.unansweredMs);
    const writer = modelWriter(ref, attempt.token);
    let unlisten: (() => void) | undefined;
    try {
      // Listening starts before the claim, so that no stop falls between the two.
      unlisten = await cutOnStop(deps, ref, attempt);
      if (ref.parent !== undefined && ref.step === 1) {
        const { sessionId, runId, agent } = ref;
        const child = { sessionId, runId, agent };
        const begun = await store.runs.beginChild({ child, parent: ref.parent, now: Date.now() });
        if (begun.kind !== 'begun') return await endings.elsewhere(ref);
      }
      const agent = await findAgent(ref);
      if (agent === undefined) return await endings.unknownAgent(ref, attempt);
      const claim = await store.steps.claim({
        writer,
        known: ref.known,
        now: Date.now(),
        budget: attempt.budget,
        perToken: agent.llmConfig.pricing?.outputPerMTok ?? 0,
      });
      if (claim.kind === 'done') return claim.outcome;
      if (claim.kind === 'stopped') return await endings.stopped(ref, claim.stop);
      if (claim.kind === 'superseded') return await endings.elsewhere(ref);
      if (claim.kind === 'not_ready') return { kind: 'not_ready' };
      if (claim.kind === 'fenced') throw fenced();
      if (claim.kind === 'rewound') return await endings.rewound(ref, ref.known);
      if (claim.kind === 'exhausted') return await endings.exhausted(ref);
      Object.assign(progress, { sequence: claim.sequence, failures: claim.failures });

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
        if (lost === 'superseded') return await endings.elsewhere(ref);
        if (lost === 'fenced') throw fenced();
        if (lost === 'rewound') return await endings.rewound(ref, chunks.known());
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
        if (discard.kind === 'superseded') return await endings.elsewhere(ref);
        if (discard.kind === 'fenced') throw fenced();
        progress.failures = discard.failures;
        used = addUsage(used, commit.usage);
        if (isLong) throw waitingForProvider(wait);
        await pause(wait, attempt.signal);
      }
    } catch (error) {
      const isState = error instanceof StateError;
      if (!isState && !(await handOver(deps, attempt, writer, error))) throw error;
      logger.warn(
        { err: error, runId: ref.runId, step: ref.step },
        'the step cannot be carried out',
      );
      return await endings.poisoned(ref, isState ? error.code : 'framework_internal_error');
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
    if (outcome === 'rewound') return endings.rewound(ref, ref.known);
    return outcome.kind === 'superseded' ? endings.elsewhere(ref) : outcome;
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

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AgentDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Row } from '../../protocol/rows.js';
import type { StepOutcome } from '../../protocol/run.js';
import { sleep } from '../../protocol/time.js';
import type { Writer } from '../../stores/contract/log.js';
import type { ClaimResult } from '../../stores/contract/steps.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import { addUsage } from '../../stores/record/run-usage.js';
import type { Attempt } from '../attempt.js';
import { AttemptCancelled } from '../attempt-failure.js';
import { createChunkWriter, type ChunkWriter } from '../chunk-writer.js';
import type { TracedDeps } from '../deps.js';
import { AttemptOver, owned } from '../endings.js';
import type { LoadedState } from '../load-state.js';
import { askModel } from './ask-model.js';
import { callIdsOf } from './call-ids.js';
import { createCompactions } from './compactions.js';
import { toModelCall, type AskedStep, type ModelCall } from './call-options.js';
import { askWithLess } from './eased-prompt.js';
import { isCompletion, type TellAgent } from './finish-hooks.js';
import { createFetchFile } from './fetch-file.js';
import { createInputNotes } from './input-hooks.js';
import { createStepFiles, type StepFiles } from './made-files.js';
import { logUnworded } from './model-outputs.js';
import { allFailed, firstTurn, modelsOf, nextTry } from './model-turns.js';
import { toLoggedError, toProviderFailure, type ProviderFailure } from './provider-failure.js';
import { createJudge } from './judge-step.js';
import { createCallTimer, type CallTimer } from './call-timer.js';
import { createChatSpan, writeLostAttempts, type ChatSpan } from './chat-span.js';
import { hasReached } from './spending.js';
import { refusalOf, waitingForProvider } from './refusal.js';
import { createStepCommit } from './step-commit.js';
import { SPEND_CAP_REACHED } from './step-outcome.js';
import { readsSteps } from './step-records.js';
import { createStepReply } from './step-reply.js';
import type { ChunkBase, StepReply } from './reply-types.js';
import { clientToolsOf, callIdTaker, deferredCallsOf } from './sub-agents.js';

/** Progress of an attempt, as its heartbeats report it. */
export interface StepProgress {
  step: number;
  sequence: number;
  failures: number;
  /** Of the newest reply: its model, and what its provider reported. */
  model?: string;
  usage?: RunUsage;
}

/** One attempt of a step. */
export interface StepAttempt {
  ref: StepRef;
  attempt: Attempt;
  writer: Writer;
  progress: StepProgress;
}

/** The claimed step: its agent, and the conversation that its model gets. */
export interface ClaimedStep {
  agent: AgentDefinition;
  claim: Extract<ClaimResult, { kind: 'claimed' }>;
  rows: readonly Row[];
  /** The agent's own state; undefined for agents without one. */
  loaded: LoadedState | undefined;
}

/**
 * Asks the model until its reply is stored, or its provider has failed for too long. A provider that
 * fails is asked again within the same activity, so that its `Retry-After` is kept to the
 * millisecond; for longer waits the activity ends, and Temporal begins its next attempt. The count of
 * failures is in Redis and outlives a worker, as does the model that has been reached.
 *
 * @throws AttemptOver
 */
export function createStepTries(
  deps: TracedDeps,
  tellAgent: TellAgent,
): (current: StepAttempt, step: ClaimedStep) => Promise<StepOutcome> {
  const { store, streamManager, logger, fileHosts: hosts = [] } = deps;
  const fetchFile = hosts.length === 0 ? undefined : createFetchFile({ hosts });
  const judge = createJudge(logger);

  return async (current, { agent, claim, rows, loaded }) => {
    const { attempt, writer, progress } = current;
    const { messageId } = claim;
    const verdict = await judge(current, { agent, rows, messageId });
    // An agent that owes a result is asked for nothing else.
    const owes = verdict === 'done' && agent.outputSchema !== undefined;
    const ref: StepRef = owes ? { ...current.ref, forceFinish: true } : current.ref;
    const base: ChunkBase = { agentId: ref.sessionId, agentType: ref.agent, step: ref.step };
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
    const made = createStepFiles(deps, ref, attempt.token);
    if (attempt.number > 1) await made.clear();
    if (claim.hasDroppedCalls === true) await made.clearDropped(rows);
    writeLostAttempts(deps.traces, ref, attempt, claim.usage);
    const { llmConfig } = agent;
    const compactions = createCompactions(deps, { attempt, writer, rows, llmConfig });
    let used = claim.usage;
    const models = modelsOf(agent.llmConfig);
    let turn = firstTurn(models, claim.fallback);
    const reasons: object[] = [];
    // When the first of the step's failures was, by this process's clock.
    let failingSince = claim.failures > 0 ? performance.now() - claim.failingForMs : undefined;
    for (;;) {
      const isDeferred = deferredCallsOf(agent, ref.sessionId);
      const isClients = clientToolsOf(agent);
      const reply = createStepReply(base, callIdsOf(rows), Date.now, isDeferred, isClients);
      // Attempts that only waited are no tries.
      const tries = Math.max(1, attempt.number - claim.waits) + progress.failures;
      const choice = models[turn.index];
      const { state = {}, added: patches = [] } = loaded ?? {};
      if (patches.length > 0) {
        chunks.push([{ type: 'state_patch', ...base, timestamp: Date.now(), patches }]);
      }
      const hasDroppedCalls = claim.hasDroppedCalls === true;
      const span = createChatSpan(deps.traces, { ref, attempt, agent, reply, progress });
      const timing = { run: ref, report: span?.write, isNoted: readsSteps(agent) };
      const timer = createCallTimer(deps, timing);
      const asked = {
        ...{
          timer,
          span,
          choice,
          isFallback: turn.index > 0,
          isLast: turn.index >= models.length - 1,
        },
        ...{ ref, agent, state, rows, messageId, tries, hasDroppedCalls, compactions, used },
        ...{
          files: store.files,
          fetchFile,
          keepFile: made.keep,
          unworded: logUnworded(logger, ref),
        },
        ...{ attempt, reply, chunks, progress },
      };
      const isOver = verdict === 'done' && !owes;
      const refusal = isOver ? undefined : refusalOf(agent, verdict, used);
      const isAsked = !isOver && refusal === undefined;
      const given: Answer = isAsked ? await ask(asked) : { failure: refusal };
      const { failure, call } = given;
      const lost = chunks.lost();
      if (lost !== undefined) throw new AttemptOver({ kind: lost, known: chunks.known() });
      const { known } = chunks;
      const commit = createStepCommit(deps, {
        ...{ ref, attempt, writer, agent, messageId, reply, known, call },
        used: addUsage(used, compactions.usage()),
        invalidFinishes: claim.invalidFinishes,
        compaction: compactions.made(),
        countUsage: timer.used,
        answered: timer.answered,
      });
      if (commit.usage !== undefined) progress.usage = commit.usage;
      if (attempt.cutReason() === 'stop') return commit.stopped();
      if (failure === undefined) {
        const outcome = isOver ? await commit.over() : await commit.complete();
        const { sessionId, runId, step } = ref;
        const isLast = isCompletion(outcome);
        await tellAgent({ agent, sessionId, runId, step, isLast, isKnown: isOver });
        return outcome;
      }
      const failedAt = performance.now();
      failingSince ??= failedAt;
      const failing = { failures: progress.failures + 1, forMs: failedAt - failingSince };
      reasons.push({ model: progress.model, code: failure.code });
      const next = nextTry(agent.llmConfig, turn, failure, failing);
      // Out of tries: the partial reply is kept and the run fails.
      if (next === 'failed') {
        const outcome = allFailed(models, failure);
        if (outcome !== failure) {
          logger.warn({ reasons, runId: ref.runId, step: ref.step }, 'all models have failed');
        }
        return commit.failed(outcome, failure.code);
      }
      const fallback = next.kind === 'next' ? next.turn : undefined;
      turn = fallback ?? turn;
      const wait = next.kind === 'wait' ? next.ms : 0;
      const isLong = wait > LIMITS.waitInPlaceMs;
      const discard = owned(
        await store.steps.discard({
          writer,
          failure: progress.failures + 1,
          reason: failure.code,
          fallback: fallback?.index,
          waitMs: isLong ? wait : undefined,
          usage: commit.usage,
          now: Date.now(),
        }),
      );
      await made.clear();
      timer.used(commit.usage);
      progress.failures = discard.failures;
      used = addUsage(used, commit.usage);
      if (isLong) throw waitingForProvider(wait);
      // A signal ends the wait early, and the next model call sees the signal.
      await sleep(wait, attempt.signal);
    }
  };

  /** Streams the model's reply; resolves with the provider's failure if there was one. */
  async function ask({
    attempt,
    reply,
    chunks,
    hasDroppedCalls,
    progress,
    timer,
    span,
    keepFile,
    isLast,
    ...step
  }: AskedAttempt): Promise<Answer> {
    const { ref, agent } = step;
    let call: ModelCall | undefined;
    const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
    const { firstPartMs, callMs } = step.choice ?? {};
    let failure: ProviderFailure | undefined;
    let isReplying = false;
    try {
      const hookSignal = AbortSignal.any([attempt.signal, AbortSignal.timeout(stallTimeoutMs)]);
      call = await toModelCall(step, hookSignal);
      const { compactions, used } = step;
      const summaries = compactions.usage();
      if (summaries !== undefined && hasReached(agent.spendCap, addUsage(used, summaries))) {
        return { failure: SPEND_CAP_REACHED, call };
      }
      const { model } = call;
      progress.model = model.modelId;
      timer.uses(model);
      const { signal } = attempt;
      const takeCallId = callIdTaker(store, ref, agent, hasDroppedCalls);
      const hear = span?.hearing(timer.onPart) ?? timer.onPart;
      const onPart = (part: LanguageModelV4StreamPart): void => {
        isReplying = true;
        hear(part);
      };
      timer.begins();
      const limits = { stallTimeoutMs, firstPartMs, callMs };
      const inputs = createInputNotes(call.tools, call.options.prompt, signal, (error, tool) => {
        const err = toLoggedError(error);
        logger.warn({ err, tool, runId: ref.runId, step: ref.step }, "a tool's hook failed");
      });
      const taken = { reply, chunks, onPart, takeCallId, keepFile, inputs };
      const askOnce = async ({ options }: ModelCall): Promise<void> => {
        const asked = { model, options, signal, ...limits, ...taken };
        await (span === undefined ? askModel(asked) : span.within(options, () => askModel(asked)));
      };
      // The next model of the list may take what this one refuses.
      const mayAskAgain = (): boolean => isLast && !reply.begun() && !signal.aborted;
      await askWithLess(call, askOnce, mayAskAgain, (less, error) => {
        call = less;
        const { eased } = less;
        const err = toLoggedError(error);
        logger.warn(
          { err, runId: ref.runId, step: ref.step, eased },
          'the model is asked for less',
        );
      });
    } catch (error) {
      if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
      const fault = step.compactions.fault();
      if (fault !== undefined) throw fault.error;
      if (attempt.cutReason() === undefined) {
        const err = toLoggedError(error);
        logger.warn({ err, runId: ref.runId, step: ref.step }, 'model call failed');
        failure = toProviderFailure(error, isReplying);
      }
    }
    // A call that was cut for another reason is no failure of the provider's.
    if (failure !== undefined || attempt.cutReason() === undefined) timer.ended(failure?.code);
    await chunks.flush();
    return { failure, call };
  }
}

interface Answer {
  failure?: ProviderFailure | undefined;
  /** What was asked, once that was known. */
  call?: ModelCall | undefined;
}

interface AskedAttempt extends AskedStep {
  attempt: Attempt;
  reply: StepReply;
  chunks: ChunkWriter;
  progress: StepProgress;
  keepFile: StepFiles['keep'];
  timer: CallTimer;
  span: ChatSpan | undefined;
  /** No other model stands in for this one. */
  isLast: boolean;
  /** Calls were made that the rows do not show. */
  hasDroppedCalls: boolean;
  /** What the run has used before. */
  used: RunUsage | undefined;
}

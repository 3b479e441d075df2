import type { LanguageModelV4, LanguageModelV4StreamResult } from '@ai-sdk/provider';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import type { AgentDefinition } from '../../agents/define-agent.js';
import { resolveModel } from '../../agents/model.js';
import type { RunActivities, StepRef } from '../../protocol/activities.js';
import { LIMITS } from '../../protocol/limits.js';
import { isTerminal, type StepOutcome } from '../../protocol/run.js';
import type { Writer } from '../../stores/session-store.js';
import { modelWriter, openAttempt, type Attempt } from '../attempt.js';
import { createChunkWriter, type ChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { createRowsCache } from '../rows-cache.js';
import { callIdsOf } from './call-ids.js';
import { toFunctionTools } from './function-tools.js';
import { toPrompt } from './prompt.js';
import {
  retryDelay,
  StreamCutError,
  toProviderFailure,
  type ProviderFailure,
} from './provider-failure.js';
import { createStepCommit, endStopped } from './step-commit.js';
import { createStepReply, type StepReply } from './step-reply.js';

/** One model call: claim the step, stream the reply into the log, commit it. */
export function createModelStep(deps: ActivityDeps): RunActivities['modelStep'] {
  const { store, streamManager, agents } = deps;
  const rowsCache = createRowsCache(store);

  return async (ref) => {
    let sequence = 0;
    const attempt = openAttempt(() => ({ step: ref.step, sequence }));
    const writer = modelWriter(ref, attempt.token);
    let unlisten: (() => void) | undefined;
    try {
      // Listening starts before the claim, so that no stop falls between the two.
      unlisten = await streamManager.onStop(ref.sessionId, () => {
        attempt.cut('stop');
      });
      const claim = await store.claim({ writer, now: Date.now() });
      if (claim.kind === 'done') return claim.outcome;
      if (claim.kind === 'stopped') return await endStopped(deps, ref, claim.stop);
      if (claim.kind === 'superseded') return await endedElsewhere(ref);
      if (claim.kind === 'not_ready') return { kind: 'not_ready' };
      if (claim.kind === 'fenced') throw fenced();
      sequence = claim.sequence;

      const agent = agents.resolve(ref.agent);
      const rows = await rowsCache.load(ref.sessionId, claim.rowCount);
      const chunks = createChunkWriter(streamManager, writer, {
        stop: () => {
          attempt.cut('stop');
        },
        lost: (loss) => {
          attempt.cut(loss);
        },
      });
      const reply = createStepReply(
        { agentId: ref.sessionId, agentType: ref.agent, step: ref.step },
        callIdsOf(rows),
        Date.now,
      );
      const commit = createStepCommit(deps, {
        ref,
        writer,
        agent,
        messageId: claim.messageId,
        reply,
      });
      const failure = await speak({ ref, attempt, agent, rows, reply, chunks });
      const lost = chunks.lost();
      if (lost === 'superseded') return await endedElsewhere(ref);
      if (lost === 'fenced') throw fenced();
      if (attempt.cutReason() === 'stop') return await commit.stopped();
      if (failure === undefined) return await commit.complete();
      return await failed(failure, claim.failures, writer, commit.failed);
    } finally {
      unlisten?.();
      attempt.close();
    }
  };

  /** A run that was ended by somebody else, a stop for instance, still says how it ended. */
  async function endedElsewhere({ sessionId, runId, step }: StepRef): Promise<StepOutcome> {
    const record = await store.load(sessionId);
    if (record?.runId !== runId || !isTerminal(record.status)) return { kind: 'superseded' };
    const { status, error } = record;
    return { kind: 'ended', step, status, ...(error !== undefined && { error }) };
  }

  /** Streams the model's reply; resolves with the provider's failure if there was one. */
  async function speak(turn: {
    ref: StepRef;
    attempt: Attempt;
    agent: AgentDefinition;
    rows: Parameters<typeof toPrompt>[1];
    reply: StepReply;
    chunks: ChunkWriter;
  }): Promise<ProviderFailure | undefined> {
    const { ref, attempt, agent, rows, reply, chunks } = turn;
    try {
      const model = resolveModel(agent.llmConfig.model);
      await readStream(await openStream(model, ref, agent, rows, attempt), reply, chunks);
      if (reply.finish() === undefined || reply.finish()?.reason === 'error') {
        throw new StreamCutError();
      }
    } catch (error) {
      if (attempt.cancelled()) throw new CancelledFailure('the worker goes away');
      if (attempt.cutReason() === undefined) {
        deps.logger.warn({ err: error, runId: ref.runId, step: ref.step }, 'model call failed');
        await chunks.flush();
        return toProviderFailure(error);
      }
    }
    await chunks.flush();
    return undefined;
  }

  /** Another try, as long as the budget lasts; after that the partial reply is kept and the run fails. */
  async function failed(
    failure: ProviderFailure,
    before: number,
    writer: Writer,
    giveUp: (error: ProviderFailure) => Promise<StepOutcome>,
  ): Promise<StepOutcome> {
    const { code, message, retryAfterMs } = failure;
    if (!failure.retryable || before + 1 >= LIMITS.stepTries) return giveUp(failure);
    const discard = await store.discard({ writer, reason: code, now: Date.now() });
    if (discard.kind === 'superseded') return { kind: 'superseded' };
    const failures = discard.kind === 'discarded' ? discard.failures : before + 1;
    throw ApplicationFailure.create({
      message,
      type: code,
      nextRetryDelay: retryDelay(failures, retryAfterMs),
    });
  }
}

async function openStream(
  model: LanguageModelV4,
  ref: StepRef,
  agent: AgentDefinition,
  rows: Parameters<typeof toPrompt>[1],
  attempt: Attempt,
): Promise<LanguageModelV4StreamResult> {
  const { systemPrompt, llmConfig, tools } = agent;
  const system = typeof systemPrompt === 'string' ? systemPrompt : systemPrompt({});
  const { temperature, maxOutputTokens } = llmConfig;
  const { sessionId, runId, step } = ref;
  return model.doStream({
    prompt: toPrompt(system, rows),
    ...(tools.length > 0 && {
      tools: await toFunctionTools(tools),
      toolChoice: { type: 'auto' as const },
    }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    providerOptions: {
      ...llmConfig.providerOptions,
      helix: { attempt: attempt.number, sessionId, runId, step },
    },
    abortSignal: attempt.signal,
  });
}

async function readStream(
  { stream }: LanguageModelV4StreamResult,
  reply: StepReply,
  chunks: ChunkWriter,
): Promise<void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.type === 'error') throw value.error;
      chunks.push(reply.accept(value));
      const room = chunks.room();
      if (room !== undefined) await room;
    }
  } finally {
    // Frees the provider's connection when we leave early; a stream that is done does not mind.
    reader.cancel().catch(() => undefined);
  }
}

/** Retryable: if this attempt is current after all, the next one has a higher token. */
function fenced(): ApplicationFailure {
  return ApplicationFailure.create({ message: 'another attempt owns this step', type: 'fenced' });
}

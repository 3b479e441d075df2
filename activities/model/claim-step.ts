import { createPatch } from 'rfc6902';
import type { z } from 'zod';
import { parseState } from '../../agents/agent-state.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { ToolError } from '../../agents/tool-error.js';
import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { StaleStateError } from '../../protocol/errors.js';
import type { StepOutcome } from '../../protocol/run.js';
import type { StateRead } from '../../store/contract/documents.js';
import type { Store } from '../../store/contract/store.js';
import { cutOf } from '../attempt.js';
import { createChunkWriter } from '../chunk-writer.js';
import type { ActivityDeps } from '../deps.js';
import { AttemptOver, owned } from '../end-step.js';
import { createRowsCache } from '../rows-cache.js';
import type { RunAgents } from '../run-agent.js';
import type { ClaimedStep, LoadedState, StepAttempt } from './middleware.js';
import { toLoggedError } from './provider-failure.js';

/** A claimed step, or the outcome that an earlier attempt reached. */
export type Claimed =
  | ({ kind: 'claimed' } & ClaimedStep)
  | { kind: 'done'; agent: AgentDefinition; outcome: StepOutcome }
  | { kind: 'not_ready' };

/** Retryable: the sources of tools may have recovered by the next run. */
const TOOLS_AWAY = { message: 'Tools of the agent are not available.', retryable: true };

/** Claims a step and loads the input of its model. @throws AttemptOver, StateError */
export function createClaimStep(
  deps: ActivityDeps,
  runAgents: RunAgents,
): (current: StepAttempt) => Promise<Claimed> {
  const { store, streamManager, logger } = deps;
  const rowsCache = createRowsCache(store.sessions);

  return async (current) => {
    const { ref, attempt, writer, progress } = current;
    await beginChild(current);
    const agent = await runAgents.find(ref);
    if (agent === undefined) throw new AttemptOver({ kind: 'unknown_agent' });
    const { stateSchema, llmConfig } = agent;
    const claim = owned(
      await store.steps.claim({
        writer,
        known: ref.known,
        now: Date.now(),
        budget: attempt.budget,
        perToken: llmConfig.pricing?.outputPerMTok ?? 0,
        wants: { state: stateSchema !== undefined, ...rowsCache.held(ref.sessionId) },
      }),
    );
    if (claim.kind === 'done') return { kind: 'done', agent, outcome: claim.outcome };
    if (claim.kind === 'not_ready') return claim;
    if (claim.kind !== 'claimed') throw new AttemptOver(claim);
    Object.assign(progress, { sequence: claim.sequence, failures: claim.failures });
    const equipped = await chooseTools(agent, current);
    // The claim usually brings both; only long or changed data takes another trip.
    const [loaded, rows] = await Promise.all([
      stateSchema && loadState(store, stateSchema, ref.sessionId, claim.state),
      rowsCache.load({ ...ref, born: claim.born }, claim.rowCount, claim.fresh),
    ]);
    const chunks = createChunkWriter(streamManager, writer, attempt.cut, claim.sequence);
    const warn: ClaimedStep['warn'] = (message, error, more) => {
      const err = toLoggedError(error);
      logger.warn({ err, runId: ref.runId, step: ref.step, ...more }, message);
    };
    return { kind: 'claimed', ...current, agent: equipped, claim, rows, loaded, chunks, warn };
  };

  async function beginChild({ ref }: StepAttempt): Promise<void> {
    const { sessionId, runId, agent, parent, step } = ref;
    if (parent === undefined || step !== 1) return;
    const child = { sessionId, runId, agent };
    const begun = await store.runs.beginChild({ child, parent, now: Date.now() });
    if (begun.kind !== 'begun') throw new AttemptOver({ kind: 'superseded' });
  }

  /** Chooses the agent's tools; a cut of the attempt ends the wait for slow sources. */
  async function chooseTools(
    agent: AgentDefinition,
    { ref, attempt }: StepAttempt,
  ): Promise<AgentDefinition> {
    let chosen: AgentDefinition | undefined;
    try {
      chosen = await runAgents.chooseTools(agent, ref, attempt.signal);
    } catch (error) {
      // Before the step has a writer, only a stop cuts it.
      if (cutOf(attempt) === undefined) {
        if (!ToolError.isInstance(error)) throw error;
        const { code, message } = error;
        logger.warn({ code, runId: ref.runId, step: ref.step }, message);
        throw new AttemptOver({ kind: 'failed', error: { code, ...TOOLS_AWAY } });
      }
      const { stop = { mode: 'interrupt' } } = (await store.sessions.read(ref.sessionId)) ?? {};
      throw new AttemptOver({ kind: 'stopped', stop });
    }
    if (chosen === undefined) throw new AttemptOver({ kind: 'superseded' });
    return chosen;
  }
}

/**
 * Loads the agent's state at the beginning of a step, with the changes that earlier calls asked for
 * and the schema's defaults, so that parallel tools change the same state.
 *
 * @param read the stored state, if the claim brought it
 * @throws StateError if the stored state does not fit the schema
 */
async function loadState(
  { staging, documents }: Pick<Store, 'staging' | 'documents'>,
  schema: z.ZodType,
  sessionId: string,
  read?: StateRead,
): Promise<LoadedState> {
  for (let known = read; ; known = undefined) {
    const { customState: stored, version } = await staging.promoteSettled(sessionId, known);
    const state = parseState(schema, stored);
    const added = createPatch(stored, state) as JSONPatchOperation[];
    if (added.length === 0) return { state, added };
    try {
      await documents.save(sessionId, {
        customState: state as Record<string, unknown>,
        version,
      });
      return { state, added };
    } catch (error) {
      // Another writer saved the state in between, so the loop reads it again.
      if (!(error instanceof StaleStateError)) throw error;
    }
  }
}

import type { AgentDefinition } from '../../agents/definitions.js';
import { McpError } from '../../agents/mcp/mcp-error.js';
import { StateError } from '../../agents/tool-error.js';
import type { StepRef } from '../../protocol/activities.js';
import type { StepOutcome } from '../../protocol/run.js';
import { modelWriter, handOver, type Attempt } from '../attempt.js';
import { AttemptCancelled } from '../attempt-failure.js';
import { cutOnStop } from '../cut-on-stop.js';
import type { TracedDeps } from '../deps.js';
import { AttemptOver, createStepEndings, owned } from '../endings.js';
import { loadState } from '../load-state.js';
import { createRowsCache } from '../rows-cache.js';
import { createAgentLookup, createOwnerLookup } from '../run-agent.js';
import { createTellAgent, isCompletion } from './finish-hooks.js';
import { createRunTools } from '../run-tools.js';
import { createStepTries, type StepAttempt, type StepProgress } from './step-tries.js';

/** One attempt at a step; it keeps `progress` current. @throws AttemptFailure, AttemptCancelled */
export type ModelStep = (
  ref: StepRef,
  attempt: Attempt,
  progress: StepProgress,
) => Promise<StepOutcome>;

/** The servers may be there again for the next run. */
const TOOLS_AWAY = { message: 'Tools of the agent are not available.', retryable: true };

/** One step: claims it, streams the model's reply into the log, and commits it. */
export function createModelStep(deps: TracedDeps, runTools = createRunTools(deps)): ModelStep {
  const { store, logger } = deps;
  const findAgent = createAgentLookup(deps.agents, createOwnerLookup(store.sessions));
  const rowsCache = createRowsCache(store.sessions);
  const endings = createStepEndings(deps);
  const tellAgent = createTellAgent(deps);
  const tryUntilStored = createStepTries(deps, tellAgent);

  return async (ref, attempt, progress) => {
    const writer = modelWriter(ref, attempt.token);
    const unlisten = cutOnStop(deps, ref, attempt);
    try {
      return await endings.orEnded(ref, attempt, () =>
        carryOut({ ref, attempt, writer, progress }),
      );
    } catch (error) {
      if (error instanceof McpError) {
        const { code, message } = error;
        logger.warn({ code, runId: ref.runId, step: ref.step }, message);
        return await endings.poisoned(ref, code, TOOLS_AWAY);
      }
      const isState = error instanceof StateError;
      if (!isState && !(await handOver(deps, attempt, writer, error))) throw error;
      const { runId, step } = ref;
      logger.warn({ err: error, runId, step }, 'the step cannot be carried out');
      return await endings.poisoned(ref, isState ? error.code : 'framework_internal_error');
    } finally {
      unlisten();
    }
  };

  async function carryOut(current: StepAttempt): Promise<StepOutcome> {
    const { ref, attempt, writer, progress } = current;
    if (ref.parent !== undefined && ref.step === 1) {
      const { sessionId, runId, agent, parent } = ref;
      const child = { sessionId, runId, agent };
      const begun = await store.runs.beginChild({ child, parent, now: Date.now() });
      if (begun.kind !== 'begun') throw new AttemptOver({ kind: 'superseded' });
    }
    const agent = await findAgent(ref);
    if (agent === undefined) throw new AttemptOver({ kind: 'unknown_agent' });
    const claim = owned(
      await store.steps.claim({
        writer,
        known: ref.known,
        now: Date.now(),
        budget: attempt.budget,
        perToken: agent.llmConfig.pricing?.outputPerMTok ?? 0,
        wants: { state: agent.stateSchema !== undefined, ...rowsCache.held(ref.sessionId) },
      }),
    );
    if (claim.kind === 'done') {
      // An attempt before this one may have died between the commit and the agent's hooks.
      const { sessionId, runId } = ref;
      const { outcome } = claim;
      if ('step' in outcome) {
        const isLast = isCompletion(outcome);
        await tellAgent({ agent, sessionId, runId, step: outcome.step, isLast });
      }
      return outcome;
    }
    if (claim.kind === 'not_ready') return { kind: 'not_ready' };
    if (claim.kind !== 'claimed') throw new AttemptOver(claim);
    Object.assign(progress, { sequence: claim.sequence, failures: claim.failures });
    const equipped = await chooseTools(agent, current);
    // As a rule the claim has brought both: only what is long, or has changed, takes another trip.
    const [loaded, rows] = await Promise.all([
      agent.stateSchema && loadState(store, agent.stateSchema, ref.sessionId, claim.state),
      rowsCache.load({ ...ref, born: claim.born }, claim.rowCount, claim.fresh),
    ]);
    const asked = claim.mustFinish === true ? { ...ref, forceFinish: true } : ref;
    return tryUntilStored({ ...current, ref: asked }, { agent: equipped, claim, rows, loaded });
  }

  /** Servers may take their time: what cuts the attempt ends the wait for them. */
  async function chooseTools(
    agent: AgentDefinition,
    { ref, attempt }: StepAttempt,
  ): Promise<AgentDefinition> {
    let chosen: AgentDefinition | undefined;
    try {
      chosen = await runTools.choose(agent, ref, attempt.signal);
    } catch (error) {
      if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
      const reason = attempt.cutReason();
      if (reason === undefined) throw error;
      if (reason !== 'stop') throw new AttemptOver({ kind: reason });
      const { stop = { mode: 'interrupt' } } = (await store.sessions.read(ref.sessionId)) ?? {};
      throw new AttemptOver({ kind: 'stopped', stop });
    }
    if (chosen === undefined) throw new AttemptOver({ kind: 'superseded' });
    return chosen;
  }
}

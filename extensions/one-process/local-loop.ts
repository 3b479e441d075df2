import type { RunOperations } from '../../activities/run-operations.js';
import type { StepProgress } from '../../activities/model/middleware.js';
import { LIMITS } from '../../protocol/limits.js';
import { toChildInput, type At, type CallRef, type RunInput } from '../../protocol/run.js';
import { beginningOf, createLoop, type Host, type Loop } from '../../run/loop.js';
import { GivenUp, LeftOff, type Attempts } from './attempts.js';
import { pause, type Clock } from './clock.js';

export interface LocalLoopDeps {
  operations: RunOperations;
  attempts: Attempts;
  clock: Clock;
  /** Aborts when the process leaves its runs. */
  leaving: AbortSignal;
  /** Carries a sub-agent's run to its end. @throws LeftOff */
  carryChild: (input: RunInput) => Promise<void>;
  /** Lets a run of this process read its record again. */
  askToLook: (runId: string) => void;
}

/**
 * Creates the loop of one run in this process. The store has the run's record, so a run that was left off goes on from
 * there. `run` throws TakenOver, and LeftOff once no work of the run is in progress.
 */
export function createLocalLoop(deps: LocalLoopDeps, input: RunInput): Loop {
  const { operations, attempts, clock, leaving } = deps;
  const { sessionId, runId, agent, turn, maxSteps, parent } = input;
  const run = { sessionId, runId, agent };
  const waiters = new Set<() => void>();
  const pending = new Set<Promise<At>>();

  const host: Host = {
    now: clock.now,
    until: untilTrue,
    changed: () => {
      for (const look of [...waiters]) look();
    },
    over: (children) => {
      for (const { child } of children) if (child !== undefined) deps.askToLook(child.runId);
    },
    model: begun(({ step, mustFinish }) =>
      attempts.untilDone(async (attempt) => {
        const current: StepProgress = { step, sequence: 0, failures: 0 };
        const ref = {
          ...run,
          turn,
          step,
          maxSteps,
          known: loop.known().sequence,
          ...(mustFinish === true && { forceFinish: true }),
          ...(parent !== undefined && { parent, depth: parent.depth }),
        };
        return (await operations.modelStep(ref, attempt, current)).at;
      }),
    ),
    call: begun(runTool),
    child: begun(async ({ child, toolCallId }, step) => {
      if (child === undefined) throw new Error(`the call ${toolCallId} has no sub-agent`);
      await deps.carryChild(toChildInput(input, child, toolCallId));
      return said(() => operations.settleChild({ ...run, step, toolCallId, child }));
    }),
    end: begun(({ step }) => {
      const { sequence: known } = loop.known();
      return said(() => operations.endRun({ ...run, step, status: 'completed', known }));
    }),
    look: () => said(() => operations.look({ ...run, known: loop.known() })),
  };
  const loop = createLoop(host, input, beginningOf(input, clock.now()));
  return {
    ...loop,
    run: async () => {
      try {
        return await loop.run();
      } finally {
        if (leaving.aborted) await Promise.allSettled(pending);
      }
    },
  };

  /** Wraps work that must write its result to the store even after this process starts to leave the run. */
  function begun<Of extends unknown[]>(
    work: (...of: Of) => Promise<At>,
  ): (...of: Of) => Promise<At> {
    return async (...of) => {
      const said = work(...of);
      pending.add(said);
      try {
        return await said;
      } finally {
        pending.delete(said);
      }
    };
  }

  async function said(work: () => Promise<{ at: At }>): Promise<At> {
    return (await attempts.untilStored(work)).at;
  }

  async function runTool(call: CallRef, step: number): Promise<At> {
    const { toolCallId, toolName, timeoutMs, activity = {} } = call;
    const ref = { ...run, step, toolCallId, toolName };
    const limitMs = timeoutMs ?? activity.startToCloseTimeout ?? LIMITS.toolMs;
    const { retry, scheduleToCloseTimeout: withinMs } = activity;
    const limits = { max: retry?.maximumAttempts, withinMs };
    const { at } = await attempts
      .untilDone((attempt) => operations.toolCall(ref, attempt, limitMs), limits)
      .catch((error: unknown) => {
        if (!(error instanceof GivenUp)) throw error;
        // The author's settings allow no further attempt, so the model gets an error as the result.
        const givenUp = { ...ref, givenUp: error.how };
        return attempts.untilDone((attempt) => operations.toolCall(givenUp, attempt));
      });
    return at;
  }

  /** @throws LeftOff */
  async function untilTrue(holds: () => boolean, ms?: number): Promise<boolean> {
    const over = new AbortController();
    const end = (): void => over.abort();
    let isTrue = false as boolean;
    const look = (): void => {
      isTrue ||= holds();
      if (isTrue) end();
    };
    leaving.addEventListener('abort', end, { once: true });
    waiters.add(look);
    if (leaving.aborted) end();
    look();
    await pause(clock, ms, over.signal);
    waiters.delete(look);
    leaving.removeEventListener('abort', end);
    if (leaving.aborted) throw new LeftOff();
    return isTrue || holds();
  }
}

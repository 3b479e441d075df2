import type { LegOutcome, LegRef, RunActivities, StepLine } from '../../protocol/activities.js';
import {
  afterCalls,
  afterStep,
  learn,
  needsWorkflow,
  startingCarry,
  takeStep,
  toProgress,
  type Carry,
  type Next,
} from '../../protocol/carry.js';
import { LIMITS } from '../../protocol/limits.js';
import type { CallRef, RunError, Spent, StepOutcome } from '../../protocol/run.js';
import type { Attempt } from '../attempt.js';
import type { ModelStep } from '../model/model-step.js';
import type { StepProgress } from '../model/step-tries.js';
import type { ToolCall } from '../tool-call.js';
import { innerAttempt } from './inner-attempt.js';
import { executeCalls } from './leg-calls.js';
import { createStepTable } from './step-table.js';

/** What a leg strings together. */
export interface LegParts {
  modelStep: ModelStep;
  toolCall: ToolCall;
  endRun: RunActivities['endRun'];
  /** True once the worker shuts down: a leg hands over at the next step boundary. */
  isDraining: () => boolean;
  /** How long a leg may begin steps, ms. Default: LIMITS.legMs. */
  legMs?: number;
}

/** Progress of a leg, as its heartbeats report it. */
export interface LegProgress {
  /** Highest sequence that its attempts have seen. */
  known: number;
  /** When the newest step or call was over, ms since the epoch; absent before. */
  at?: number;
  /** Progress of the current model step. */
  current?: StepProgress;
  steps: StepLine[];
}

/** One attempt at a leg; it keeps `progress` current. @throws AttemptFailure, AttemptCancelled */
export type Leg = (ref: LegRef, attempt: Attempt, progress: LegProgress) => Promise<LegOutcome>;

/**
 * A run from one rest to the next: model steps, each followed by its calls, until the run ends, only
 * people can continue, or the workflow has to act. Every decision is in the record, so another
 * attempt finds the first step that is not committed with its first claim, and no call is executed
 * twice. Nothing here knows Temporal.
 */
export function createLeg(parts: LegParts): Leg {
  const { modelStep, toolCall, endRun, isDraining, legMs = LIMITS.legMs } = parts;

  return async (ref, attempt, progress) => {
    const { sessionId, runId, agent, turn, maxSteps, parent } = ref;
    const run = { sessionId, runId, agent };
    const table = createStepTable(progress.steps);
    const beganMs = performance.now();
    const mustLeave = (): boolean => isDraining() || performance.now() - beganMs >= legMs;
    // An agent or tool that is unknown here is waited for since the leg last got anywhere.
    const { at } = progress;
    const ageMs = at === undefined ? attempt.ageMs : () => Date.now() - at;
    let carry: Carry = learn(startingCarry(ref.progress), progress.known);
    let isFresh = true;
    let spent: Spent | undefined;
    let error: RunError | undefined;
    let next: Next = ref.next;
    for (let isFirst = true; ; isFirst = false) {
      const isBoundary = next.do === 'model' || next.do === 'calls';
      if (isBoundary && !isFirst && mustLeave()) return left();
      if (next.do === 'model' && !isFirst && ref.endsSoon === true) return left();
      switch (next.do) {
        case 'model': {
          const outcome: StepOutcome = await speak(next);
          if ('spent' in outcome) spent = outcome.spent ?? spent;
          if (outcome.kind === 'ended') ({ error } = outcome);
          carry = takeStep(carry, outcome);
          next = afterStep(carry, next.step, outcome, ref);
          break;
        }
        case 'calls': {
          const { step, people }: Extract<Next, { do: 'calls' }> = next;
          // Calls that people approve meanwhile run beside the others, which takes the workflow.
          if (next.machine.length === 0 || people.length > 0) return left();
          if (next.machine.some(needsWorkflow)) return left();
          const machine: CallRef[] = await executeCalls(toolCall, {
            ref: { ...run, step: step.step, replaces: ref.replaces },
            calls: next.machine,
            attempt: inner(),
            table,
            mustLeave,
            settled: ({ sequence, finish }) => {
              if (sequence !== undefined) advanced(sequence);
              if (finish === true) carry = { ...carry, isFinished: true };
            },
          });
          next =
            machine.length > 0 || people.length > 0
              ? { do: 'calls', step, machine, people }
              : afterCalls(carry, ref);
          break;
        }
        case 'end': {
          const { step, known } = carry;
          next = {
            do: 'done',
            status: await endRun({ ...run, step, status: next.status, known }),
          };
          break;
        }
        case 'wait':
        case 'done':
          return left();
      }
    }

    /** Attempts before this one were at the first step or call that this one gets to, or before it. */
    function inner(): Attempt {
      return innerAttempt(attempt, isFresh ? { ageMs } : { number: 1 });
    }

    async function speak({
      step,
      forceFinish,
    }: Extract<Next, { do: 'model' }>): Promise<StepOutcome> {
      const { known, invalidFinishes } = carry;
      const current: StepProgress = { step, sequence: 0, failures: 0 };
      progress.current = current;
      const startedMs = performance.now();
      const outcome = await modelStep(
        {
          ...run,
          turn,
          step,
          maxSteps,
          known,
          forceFinish,
          ...(invalidFinishes > 0 && { invalidFinishes }),
          ...(parent !== undefined && { parent, depth: parent.depth }),
        },
        inner(),
        current,
      );
      if ('sequence' in outcome) advanced(outcome.sequence);
      // A step that an earlier attempt has committed is in the table, if it was reported.
      const { model, usage } = current;
      if (model === undefined) return outcome;
      const { inputTokens: input, outputTokens: output } = usage ?? {};
      const ms = Math.round(performance.now() - startedMs);
      table.spoken({ step, model, ms, input, output });
      return outcome;
    }

    /** Something was stored: a step, or the result of a call. */
    function advanced(sequence: number | undefined): void {
      carry = learn(carry, sequence);
      progress.known = carry.known;
      progress.at = Date.now();
      isFresh = false;
      attempt.leaveProgress();
    }

    function left(): LegOutcome {
      const { lines: steps } = table;
      return { progress: toProgress(carry), next, error, spent, steps };
    }
  };
}

/** What an attempt reports at first, with what the attempt before it has reported last. */
export function toLegProgress({ progress }: LegRef, before: unknown): LegProgress {
  const { known = 0, at, steps } = (before ?? {}) as Partial<LegProgress>;
  return {
    known: Math.max(known, progress.known),
    ...(at !== undefined && { at }),
    steps: Array.isArray(steps) ? steps : [],
  };
}

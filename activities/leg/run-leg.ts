import type {
  AnswerActivities,
  LegOutcome,
  LegRef,
  RunActivities,
  StateReply,
  StepLine,
  ToolCallOutcome,
  CallLine,
} from '../../protocol/temporal.js';
import { LIMITS } from '../../protocol/limits.js';
import type { At, CallRef, Next, Spent, StepOutcome } from '../../protocol/run.js';
import { sleep } from '../../protocol/time.js';
import { createLoop, isForLeg, needsWorkflow, type Host } from '../../run/loop.js';
import type { Runs } from '../../store/contract/runs.js';
import {
  type Attempt,
  AttemptCancelled,
  AttemptFailure,
  createCut,
  TOOL_RETRY,
  TOOLS_BUSY,
} from '../attempt.js';
import type { ModelStep } from '../model/model-step.js';
import type { StepProgress } from '../model/middleware.js';
import type { ToolCall } from '../tool-call.js';
import type { WithRunState } from '../after-work.js';

/** Operations that a leg runs in sequence. */
export interface LegOperations {
  modelStep: WithRunState<ModelStep>;
  toolCall: WithRunState<ToolCall>;
  /** Reads the next work of a run from the record. */
  next: Runs['next'];
  look: AnswerActivities['look'];
  endRun: RunActivities['endRun'];
  /** True once the worker shuts down; the leg then hands over at the next step boundary. */
  isDraining: () => boolean;
}

/** Progress of a leg, as its heartbeats report it. */
export interface LegProgress {
  /** Highest sequence that its attempts have seen. */
  known: number;
  /** End of the newest step or call, ms since the epoch; absent before the first. */
  at?: number;
  /** Progress of the current model step. */
  current?: StepProgress;
  steps: StepLine[];
}

/** Runs one attempt; keeps `progress` current. @throws AttemptFailure, AttemptCancelled */
export type Leg = (ref: LegRef, attempt: Attempt, progress: LegProgress) => Promise<LegOutcome>;

/**
 * Runs model steps and their calls until the run ends, only people can continue it, or the workflow
 * has to act. The record holds every decision, so another attempt finds the first uncommitted step
 * with its first claim, and no call executes twice. This module does not depend on Temporal.
 */
export function createLeg(operations: LegOperations): Leg {
  const { modelStep, toolCall, endRun, isDraining } = operations;

  return async (ref, attempt, progress) => {
    const { sessionId, runId, agent, turn, maxSteps, parent } = ref;
    const run = { sessionId, runId, agent };
    const table = new StepTable(progress.steps);
    const beganMs = performance.now();
    const mustLeave = (): boolean => isDraining() || performance.now() - beganMs >= LIMITS.legMs;
    // The wait for an unknown agent or tool counts from the leg's last progress.
    const { at: advancedAt } = progress;
    const ageMs = advancedAt === undefined ? attempt.ageMs : () => Date.now() - advancedAt;
    /** Calls for which this process has no slot, or whose pause is too long. */
    const left = new Set<string>();
    let [isFresh, hasBegun] = [true, false];
    let spent: Spent | undefined;
    let look = (): void => undefined;

    const learn = (at: At): At => {
      progress.known = Math.max(progress.known, at.sequence);
      return at;
    };

    const host: Host = {
      now: Date.now,
      until: (holds) =>
        new Promise((resolve) => {
          look = () => {
            if (holds()) resolve(true);
          };
          look();
        }),
      changed: () => {
        look();
      },
      takes: (next) => isForLeg(next, isOut) && !(hasBegun && next.do !== 'end' && mustLeave()),
      // At least one call begins, so that each leg makes progress.
      mayBegin: (call) => !isOut(call) && !(hasBegun && mustLeave()),
      model: async (next) => {
        hasBegun = true;
        return learn((await runModelStep(next)).at);
      },
      call: async (call, step) => {
        hasBegun = true;
        const outcome = await execute(call, step);
        return learn(outcome?.at ?? (await operations.next(run)));
      },
      child: () => Promise.reject(new Error('a leg has no sub-agents')),
      end: async ({ step }) => {
        const end = { ...run, step, status: 'completed', known: known() } as const;
        return (await endRun(end)).at;
      },
      look: async () => {
        const { version } = loop.known();
        return learn((await operations.look({ ...run, known: { version, sequence: known() } })).at);
      },
    };
    const loop = createLoop(host, ref, ref.at);
    const at = await loop.run();
    const { next } = at;
    const { lines: steps } = table;
    if (next.do !== 'open') return { at, spent, steps };
    const calls = next.calls?.map((call) =>
      left.has(call.toolCallId) ? { ...call, activity: {} } : call,
    );
    return { at: { ...at, next: { ...next, calls } }, spent, steps };

    function known(): number {
      return Math.max(progress.known, loop.known().sequence);
    }

    function isOut(call: CallRef): boolean {
      return needsWorkflow(call) || left.has(call.toolCallId);
    }

    /** Only the first step or call counts earlier attempts, since none of them got past it. */
    function inner(): Attempt {
      return innerAttempt(attempt, isFresh ? { ageMs } : { number: 1 });
    }

    async function runModelStep({ step, mustFinish }: Model): Promise<StepOutcome & StateReply> {
      const current: StepProgress = { step, sequence: 0, failures: 0 };
      progress.current = current;
      const startedMs = performance.now();
      const outcome = await modelStep(
        {
          ...run,
          turn,
          step,
          maxSteps,
          known: known(),
          ...(mustFinish === true && { forceFinish: true }),
          ...(parent !== undefined && { parent, depth: parent.depth }),
        },
        inner(),
        current,
      );
      if ('spent' in outcome) spent = outcome.spent ?? spent;
      if ('sequence' in outcome) advanced();
      // If an earlier attempt committed and reported the step, the table has it.
      const { model, usage } = current;
      if (model === undefined) return outcome;
      const { inputTokens: input, outputTokens: output } = usage ?? {};
      const ms = Math.round(performance.now() - startedMs);
      table.addStep({ step, model, ms, input, output });
      return outcome;
    }

    async function execute(call: CallRef, step: number): Promise<Executed> {
      const startedMs = performance.now();
      const outcome = await untilSettled(call, step);
      if (outcome === undefined) return undefined;
      const ms = Math.round(performance.now() - startedMs);
      const how = outcome.kind === 'settled' ? (outcome.error ?? 'ok') : outcome.kind;
      const isNew = outcome.sequence !== undefined;
      table.called(step, { tool: call.toolName, ms, outcome: how }, isNew);
      if (isNew) advanced();
      return outcome;
    }

    /** Returns the call's last outcome; undefined if the workflow has to take the call over. */
    async function untilSettled(
      { toolCallId, toolName }: CallRef,
      step: number,
    ): Promise<Executed> {
      const outer = inner();
      const call = { ...run, step, replaces: ref.replaces, toolCallId, toolName };
      for (let retries = 0; ; retries += 1) {
        // Tokens of attempts differ by thousands, so the next attempt still fences this one off.
        const own = innerAttempt(outer, { token: outer.token + retries });
        try {
          return await toolCall(call, own, LIMITS.toolMs);
        } catch (error) {
          if (!(error instanceof AttemptFailure)) throw error;
          const { type, afterMs = 0 } = error.next;
          const isRetry = type === TOOL_RETRY;
          if (!isRetry && type !== TOOLS_BUSY) throw error;
          // A call that waits for a slot costs nothing outside the leg.
          if (!isRetry || mustLeave()) {
            left.add(toolCallId);
            return undefined;
          }
          await sleep(afterMs, own.signal);
          if (attempt.cancelled()) {
            throw new AttemptCancelled('the attempt was cancelled in a pause');
          }
        }
      }
    }

    /** Notes that a step or the result of a call was stored. */
    function advanced(): void {
      progress.at = Date.now();
      isFresh = false;
      attempt.leaveProgress();
    }
  };
}

type Model = Extract<Next, { do: 'model' }>;
type Executed = (ToolCallOutcome & StateReply) | undefined;

/** Returns an attempt's initial progress, with the last report of the previous attempt. */
export function toLegProgress({ at: { sequence } }: LegRef, before: unknown): LegProgress {
  const { known = 0, at, steps } = (before ?? {}) as Partial<LegProgress>;
  return {
    known: Math.max(known, sequence),
    ...(at !== undefined && { at }),
    steps: Array.isArray(steps) ? steps : [],
  };
}

/**
 * Creates an attempt at one step or call within the leg's attempt. It ends with the leg's attempt,
 * and is cut alone if it loses its own writer.
 *
 * @param own fields that differ from the leg's attempt
 */
function innerAttempt(
  leg: Attempt,
  own: Partial<Pick<Attempt, 'number' | 'token' | 'ageMs'>>,
): Attempt {
  const cut = createCut(leg.signal);
  return {
    ...leg,
    ...own,
    ...cut,
    // The leg itself has begun: other calls and steps did.
    noteUnbegun: () => undefined,
    close: () => undefined,
  };
}

/** Maximum number of steps in a table; older ones drop out. */
const MAX_STEPS = 50;
/** Maximum number of calls named per step; the others are counted. */
const MAX_CALLS = 10;

/**
 * A leg's progress for operators; kept small, since heartbeats and the result carry it.
 *
 * @param lines lines that an earlier attempt reported; the table keeps them current
 */
export class StepTable {
  readonly lines: StepLine[];
  readonly #reported: StepLine | undefined;
  /** Calls of the last reported line that may be settled again. */
  #repeats: number;

  constructor(lines: StepLine[] = []) {
    this.lines = lines;
    const { calls = [], more = 0 } = lines.at(-1) ?? {};
    this.#reported = lines.at(-1);
    this.#repeats = calls.length + more;
  }

  /** Records a completed model step. */
  addStep(line: StepLine): void {
    Object.assign(this.#lineOf(line.step), line);
  }

  /** Records a finished call; `isNew` is false if an earlier attempt settled it. */
  called(step: number, call: CallLine, isNew: boolean): void {
    if (!isNew && step === this.#reported?.step && this.#repeats > 0) {
      this.#repeats -= 1;
      return;
    }
    const line = this.#lineOf(step);
    line.calls ??= [];
    if (line.calls.length < MAX_CALLS) line.calls.push(call);
    else line.more = (line.more ?? 0) + 1;
  }

  #lineOf(step: number): StepLine {
    const last = this.lines.at(-1);
    if (last?.step === step) return last;
    const added: StepLine = { step };
    this.lines.push(added);
    if (this.lines.length > MAX_STEPS) this.lines.splice(0, this.lines.length - MAX_STEPS);
    return added;
  }
}

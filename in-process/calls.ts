import type { ToolCallOutcome } from '../protocol/activities.js';
import { approvedOf, learn, removeReleased, toSuspended, type Next } from '../protocol/carry.js';
import { LIMITS } from '../protocol/limits.js';
import type { CallRef, ChildRef, RunInput } from '../protocol/run.js';
import { GivenUp, LeftOff } from './attempts.js';
import type { CarryDeps } from './carry-deps.js';
import type { LocalRun } from './local-run.js';
import type { UntilAnswered } from './waiting.js';

/** Number of calls of one step that are executed at once. */
const CALLS_AT_ONCE = 10;

/** How far the calls of a step have come. */
interface Progress {
  /** Takes a call whose tool waits. */
  add: (suspended: CallRef) => void;
  working: Set<CallRef>;
  /** Ids of calls that were released while they were carried out. */
  early: Set<string>;
}

/**
 * Carries out the calls of a step that a leg leaves: tools and sub-agents beside each other, while
 * people answer others. Approved calls run as soon as their batch of answers is complete, calls whose
 * tools have waited as soon as their own wait is over.
 *
 * @throws LeftOff, TakenOver
 */
export function createCalls({
  parts,
  attempts,
  carryChild,
  clock,
  leaving,
  untilAnswered,
}: CarryDeps & { untilAnswered: UntilAnswered }): (
  run: LocalRun,
  next: Extract<Next, { do: 'calls' }>,
) => Promise<'stopped' | 'answered'> {
  return async (run, { step: { step, calls }, machine, people }) => {
    const waits = new Map<CallRef, number | undefined>();
    const add = (call: CallRef): void => {
      const { deadlineMs } = call;
      waits.set(call, deadlineMs === undefined ? undefined : clock.now() + deadlineMs);
      run.wake();
    };
    for (const call of people) add(call);
    const progress: Progress = { add, working: new Set(), early: new Set() };
    let atWork = 0;
    const isNext = (): boolean => atWork === 0 || waits.size > 0;

    async function begin(started: readonly CallRef[]): Promise<void> {
      atWork += 1;
      await work(run, step, started, progress);
      atWork -= 1;
      run.wake();
    }

    /** What is released is carried out beside further waits. */
    async function ask(): Promise<'stopped' | 'answered'> {
      const begun: Promise<void>[] = [];
      for (;;) {
        await run.until(isNext, { clock, signal: leaving }).catch((): never => {
          throw new LeftOff();
        });
        if (waits.size === 0) break;
        const released = await untilAnswered(run, step, waits);
        if (released === 'stopped') {
          await Promise.all(begun);
          return 'stopped';
        }
        if (released === 'over') {
          waits.clear();
          continue;
        }
        // A release may be repeated: a call that is carried out already is left alone.
        for (const { toolCallId } of approvedOf([...progress.working], released.approved)) {
          progress.early.add(toolCallId);
        }
        const ready = approvedOf([...waits.keys()], released.approved);
        removeReleased(waits, released);
        const ids = ready.map(({ toolCallId }) => toolCallId);
        const doing = begin(approvedOf(calls, ids));
        doing.catch(fail);
        begun.push(doing);
      }
      await Promise.all(begun);
      return 'answered';
    }

    let fail: (error: unknown) => void = () => undefined;
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const first = begin(machine);
    const [answered] = await Promise.race([Promise.all([ask(), first]), failed]);
    return answered;
  };

  async function work(
    run: LocalRun,
    step: number,
    calls: readonly CallRef[],
    { add, working, early }: Progress,
  ): Promise<void> {
    const isAgent = ({ kind }: CallRef): boolean => kind === 'subagent';
    const tools = calls.filter((call) => !isAgent(call)).values();
    const lane = async (): Promise<void> => {
      for (const call of tools) {
        // The record has settled what was stopped; nothing more is started.
        if (run.carry.stopRequested) return;
        working.add(call);
        const isWaiting = call.isSuspended === true;
        let suspended = isWaiting ? call : toSuspended(call, await runTool(run, step, call));
        // Its wait was over before its tool had reported that it waits.
        if (suspended !== undefined && early.delete(call.toolCallId)) {
          suspended = toSuspended(call, await runTool(run, step, call));
        }
        working.delete(call);
        if (suspended !== undefined) add(suspended);
      }
    };
    // Sub-agents start at once: their questions are asked when nothing else is left to do.
    const agents = calls.filter(isAgent).map((call) => runSubAgent(run, step, call));
    await Promise.all([...Array.from({ length: CALLS_AT_ONCE }, lane), ...agents]);
  }

  async function runTool(run: LocalRun, step: number, call: CallRef): Promise<ToolCallOutcome> {
    const { sessionId, runId, agent } = run.input;
    const { toolCallId, toolName, timeoutMs, activity = {} } = call;
    const ref = { sessionId, runId, agent, step, toolCallId, toolName };
    const limitMs = timeoutMs ?? activity.startToCloseTimeout ?? LIMITS.toolMs;
    const { retry, scheduleToCloseTimeout: withinMs } = activity;
    let outcome: ToolCallOutcome;
    try {
      const limits = { most: retry?.maximumAttempts, withinMs };
      outcome = await run.during(
        attempts.untilDone((attempt) => parts.toolCall(ref, attempt, limitMs), limits),
      );
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
      // By the settings of the tool's author it has failed for good: the model gets an error.
      const givenUp = { ...ref, givenUp: error.how };
      outcome = await attempts.untilDone((attempt) => parts.toolCall(givenUp, attempt));
    }
    const { sequence, finish } = outcome;
    run.carry = learn(run.carry, sequence);
    if (finish === true) run.carry = { ...run.carry, isFinished: true };
    return outcome;
  }

  async function runSubAgent(run: LocalRun, step: number, call: CallRef): Promise<void> {
    const { child, toolCallId } = call;
    if (child === undefined) return;
    const { sessionId, runId, agent } = run.input;
    await carryChild(toChildInput(run.input, child, toolCallId));
    const { sequence } = await attempts.untilStored(() =>
      parts.settleChild({ sessionId, runId, agent, step, toolCallId, child }),
    );
    run.carry = learn(run.carry, sequence);
  }
}

function toChildInput(parent: RunInput, child: ChildRef, toolCallId: string): RunInput {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  const { sessionId: above, runId: parentRun } = parent;
  const depth = (parent.parent?.depth ?? 0) + 1;
  return {
    sessionId,
    runId,
    agent,
    turn: 1,
    maxSteps,
    hasOutput,
    activities,
    searchAttributes: false,
    parent: { sessionId: above, runId: parentRun, toolCallId, depth },
  };
}

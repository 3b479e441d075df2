import { ActivityFailure, condition, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type { LeaseRef, ToolCallOutcome } from '../protocol/activities.js';
import type { CallRef, Resumption } from '../protocol/run.js';
import {
  afterCalls,
  approvedOf,
  learn,
  removeReleased,
  toSuspended,
  type Next,
} from '../protocol/carry.js';
import { toolQueueOf } from '../protocol/temporal-names.js';
import { leftOf } from './call-activity.js';
import { untilKept } from './lost-attempts.js';
import type { OperatorsView } from './operators-view.js';
import { tools } from './proxies.js';
import { runRef, type RunState } from './run-state.js';
import { runSubAgent } from './sub-agent.js';
import { createWaits, untilAnswered } from './waiting.js';

/** Number of calls of one step that are executed at once. */
const CALLS_AT_ONCE = 10;

/**
 * Carries out the calls of a step: tools and sub-agents in parallel, while people answer others.
 * Approved calls run as soon as their batch of answers is complete, even while a sub-agent is
 * active, and calls whose tools have waited as soon as their own wait is over.
 */
export async function carryOut(
  state: RunState,
  view: OperatorsView,
  { step: { step, calls, eager = 0 }, machine, people }: Extract<Next, { do: 'calls' }>,
): Promise<Next | 'stopped'> {
  // The worker that committed the step had places for so many. When people release a call later, these
  // places may be taken: such a call goes to the tools' own queue.
  const eagerly = new Set(
    machine
      .filter((call) => call.kind !== 'subagent' && call.isSuspended !== true)
      .filter(({ activity }) => activity === undefined)
      .slice(0, eager)
      .map(({ toolCallId }) => toolCallId),
  );
  const working = new Set<CallRef>();
  const waits = createWaits(people);
  const early = new Set<string>();
  let isAsking = people.length > 0;
  const show = (): void => {
    if (working.size > 0) view.show('tools', step, [...working]);
    else if (waits.calls.size > 0) view.show('waiting', step, [...waits.calls.keys()]);
  };

  const run = (call: CallRef): Promise<ToolCallOutcome> =>
    runTool(state, step, call, eagerly.delete(call.toolCallId));

  async function work(started: readonly CallRef[]): Promise<void> {
    for (const call of started) working.add(call);
    show();
    const one = async (call: CallRef): Promise<void> => {
      let suspended: CallRef | undefined;
      if (call.kind === 'subagent') await runSubAgent(state, step, call);
      else if (call.isSuspended === true) suspended = call;
      else suspended = toSuspended(call, await run(call));
      // Its wait was over before its tool had given up its process.
      if (suspended !== undefined && early.delete(call.toolCallId)) {
        suspended = toSuspended(call, await run(call));
      }
      working.delete(call);
      if (suspended === undefined) return;
      waits.add(suspended);
      waits.mayGrow = true;
    };
    const ofTools = started.filter(({ kind }) => kind !== 'subagent');
    if (ofTools.length > CALLS_AT_ONCE) {
      // Sub-agents start at once: their questions are asked when nothing else is left to do.
      const agents = started.filter(({ kind }) => kind === 'subagent');
      const isStopped = (): boolean => state.carry.stopRequested;
      await Promise.all([inWaves(ofTools, CALLS_AT_ONCE, one, isStopped), ...agents.map(one)]);
    } else await Promise.all(started.map(one));
    // After a stop some have not begun.
    for (const call of started) working.delete(call);
    show();
  }

  /** What is released is carried out, beside further waits if a tool is among what waits. */
  async function ask(): Promise<'stopped' | 'answered'> {
    const begun: Promise<void>[] = [];
    for (;;) {
      if (waits.calls.size === 0) isAsking = false;
      const isNext = (): boolean => working.size === 0 || mayAsk();
      if (!isNext()) await condition(isNext);
      if (waits.calls.size === 0) break;
      const released = await untilAnswered(state, step, waits);
      if (released === 'stopped') {
        await Promise.all(begun);
        return 'stopped';
      }
      if (released === 'over') {
        waits.calls.clear();
        continue;
      }
      const ready = toReady(released);
      if (ready.length === 0) continue;
      const doing = work(ready);
      begun.push(doing);
      doing.catch(fail);
      await Promise.race([doing, condition(() => waits.mayGrow)]);
    }
    await Promise.all(begun);
    waits.notices?.end({ at: Date.now() });
    return 'answered';
  }

  function mayAsk(): boolean {
    return waits.calls.size > 0 && (waits.mayGrow || isAsking);
  }

  /** Takes what is released off the list of what waits. */
  function toReady({ approved, partial }: Resumption): CallRef[] {
    if (partial === true) waits.mayGrow = true;
    if (!waits.mayGrow) {
      removeReleased(waits.calls, { approved });
      return approvedOf(calls, approved);
    }
    // A release may be repeated: a call that is carried out already is left alone.
    for (const { toolCallId } of approvedOf([...working], approved)) early.add(toolCallId);
    const ready = approvedOf([...waits.calls.keys()], approved);
    removeReleased(waits.calls, { approved, ...(partial && { partial }) });
    return approvedOf(
      calls,
      ready.map(({ toolCallId }) => toolCallId),
    );
  }

  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  if (machine.length === 0) show();
  const asking = people.length > 0 ? ask() : undefined;
  const first = machine.length > 0 ? work(machine) : undefined;
  const all = Promise.all([asking ?? ask(), first]);
  const [answer] = await Promise.race([all, failed]);
  return answer === 'stopped' ? 'stopped' : afterCalls(state.carry, state.input);
}

async function runTool(
  state: RunState,
  step: number,
  call: CallRef,
  isEager: boolean,
): Promise<ToolCallOutcome> {
  const { toolCallId, toolName, timeoutMs, activity } = call;
  const ref = { ...runRef(state), step, toolCallId, toolName };
  const usual = { summary: toolName, taskQueue: toolQueueOf(workflowInfo().taskQueue) };
  const options = {
    ...usual,
    ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs + 30_000 }),
  };
  const beganMs = Date.now();
  // By the settings of the tool's author it has failed for good: the model gets an error.
  const giveUp = (givenUp: 'timed_out' | 'failed', leased: object, lease: LeaseRef) =>
    tools.toolCall.executeWithOptions({ ...usual, ...leased }, [{ ...ref, ...lease, givenUp }]);
  let outcome: ToolCallOutcome;
  try {
    outcome = await untilKept(state.input, (leased, lease) => {
      const left = leftOf(activity, lease.replaces, Date.now() - beganMs);
      if (typeof left === 'string') return giveUp(left, leased, lease);
      // A server starts an activity eagerly only on the task queue of its workflow.
      if (isEager && lease.isLeased === true && lease.replaces === undefined) {
        const settings = { ...options, taskQueue: workflowInfo().taskQueue, ...leased };
        return tools.toolCall.executeWithOptions(settings, [{ ...ref, ...lease, eager: true }]);
      }
      const settings = { ...options, ...left, ...leased };
      return tools.toolCall.executeWithOptions(settings, [{ ...ref, ...lease }]);
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const givenUp = error.cause instanceof TimeoutFailure ? 'timed_out' : 'failed';
    outcome = await untilKept(state.input, (leased, lease) => giveUp(givenUp, leased, lease));
  }
  const { sequence, finish } = outcome;
  state.carry = learn(state.carry, sequence);
  if (finish === true) state.carry = { ...state.carry, isFinished: true };
  return outcome;
}

/**
 * Carries out work with limited concurrency and in order: one item begins when another ends. This
 * keeps a run below the server's limit of pending activities, and from filling a whole queue.
 */
async function inWaves<T>(
  all: readonly T[],
  most: number,
  work: (one: T) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  let atWork = 0;
  let failure: { error: unknown } | undefined;
  for (const one of all) {
    if (atWork >= most) await condition(() => atWork < most || failure !== undefined);
    // The record has settled what was stopped; nothing more is started.
    if (failure !== undefined || isStopped()) break;
    atWork += 1;
    void work(one).then(
      () => {
        atWork -= 1;
      },
      (error: unknown) => {
        failure = { error };
      },
    );
  }
  await condition(() => atWork === 0 || failure !== undefined);
  if (failure !== undefined) throw failure.error;
}

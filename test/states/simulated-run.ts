import { decideSweep } from '../../executor/decide-sweep.js';
import type { StepOutcome, TerminalStatus } from '../../protocol/run.js';
import {
  afterCalls,
  afterStep,
  approvedOf,
  releasedFor,
  startingCarry,
  takeAnswer,
  takeReleased,
  takeStep,
  type Next,
} from '../../workflows/carry.js';
import type { SettleCallResult } from '../../stores/contract/calls.js';
import { overdueCallsOf } from './open-calls.js';
import { driverOf, nextNonce, SESSION, storeOf, type SimulatedRun, type World } from './world.js';

/** The step cap of simulated runs. */
export const CAP = { maxSteps: 3 };

/** Starts the workflow of a run; harmless when it was started before. */
export function startRun(world: World, runId: string): void {
  world.runs[runId] ??= {
    runId,
    carry: startingCarry(undefined),
    isClosed: false,
    model: { step: 1, attempt: 1, isClaimed: false },
    tools: {},
  };
}

/** What the workflow does when its model step has returned. */
export async function takeOutcome(
  world: World,
  run: SimulatedRun,
  outcome: StepOutcome,
): Promise<void> {
  const step = run.model?.step ?? 0;
  run.model = undefined;
  if (run.isClosed) return;
  run.carry = takeStep(run.carry, outcome);
  await follow(world, run, afterStep(run.carry, step, outcome, CAP));
}

async function follow(world: World, run: SimulatedRun, next: Next): Promise<void> {
  switch (next.do) {
    case 'model':
      run.model = { step: next.step, attempt: 1, isClaimed: false };
      return;
    case 'calls':
      run.calls = { outcome: next.step, isAnswered: next.people.length === 0 };
      run.tools = {};
      schedule(
        run,
        next.machine.map(({ toolCallId }) => toolCallId),
      );
      return goOn(world, run);
    case 'wait': {
      const { step } = next;
      run.calls = { outcome: { kind: 'calls', step, calls: [] }, isAnswered: false };
      run.tools = {};
      return goOn(world, run);
    }
    case 'end':
      await end(world, run, next.status);
      return;
    case 'done':
      run.isClosed = true;
  }
}

function schedule(run: SimulatedRun, calls: readonly string[]): void {
  for (const id of calls) run.tools[id] = { attempt: 1, isStarted: false, isDone: false };
}

/** What the workflow does whenever something has changed: the same as it does in its waits. */
export async function goOn(world: World, run: SimulatedRun): Promise<void> {
  if (run.isClosed || run.calls === undefined) return;
  const { outcome, isAnswered } = run.calls;
  if (!isAnswered) {
    const approved = releasedFor(run.carry, outcome.step);
    if (approved !== undefined) {
      run.carry = takeReleased(run.carry, outcome.step);
      run.calls.isAnswered = true;
      schedule(
        run,
        approvedOf(outcome.calls, approved).map(({ toolCallId }) => toolCallId),
      );
    }
  }
  const isWorking = Object.values(run.tools).some(({ isDone }) => !isDone);
  if (isWorking) return;
  if (run.calls.isAnswered) {
    run.calls = undefined;
    await follow(world, run, afterCalls({ ...run.carry, step: outcome.step }, CAP));
  } else if (run.carry.stopRequested) {
    await end(world, run, 'interrupted');
  }
}

async function end(world: World, run: SimulatedRun, status: TerminalStatus): Promise<void> {
  const { runId, carry } = run;
  await storeOf(world).runs.end({
    sessionId: SESSION,
    runId,
    agentType: 'tester',
    step: carry.step,
    status,
    now: world.clock.now,
  });
  run.isClosed = true;
}

/** What the workflow does when it is told of an answer. */
export async function hear(
  world: World,
  runId: string,
  toolCallId: string,
  result: SettleCallResult,
): Promise<void> {
  const run = world.runs[runId];
  if (run === undefined || result.kind !== 'stored') return;
  const { resume } = result;
  run.carry = takeAnswer(run.carry, { toolCallId, ...(resume && { resume }) });
  await goOn(world, run);
}

/** One look of the sweeper, long after everything else: it gives no second signal in between. */
export async function sweep(world: World): Promise<void> {
  world.clock.now += 10_000;
  const store = storeOf(world);
  const record = await store.sessions.read(SESSION);
  if (record === undefined) return;
  const run = world.runs[record.runId];
  const workflow = run === undefined ? 'unknown' : run.isClosed ? 'closed' : 'running';
  switch (decideSweep(record, workflow, { now: world.clock.now, startWithinMs: 900_000 })) {
    case 'begin': {
      const next = await store.queue.begin({
        sessionId: SESSION,
        nonce: nextNonce(world),
        now: world.clock.now,
      });
      if (next.kind === 'begun') startRun(world, next.run.runId);
      break;
    }
    case 'start':
      startRun(world, record.runId);
      break;
    case 'wake':
      if (run !== undefined && record.resume !== undefined) {
        run.carry = takeAnswer(run.carry, { toolCallId: '', resume: record.resume });
        await goOn(world, run);
      }
      break;
    case 'expire':
      for (const { toolCallId } of overdueCallsOf(world)) {
        const expired = driverOf(world).expire(record.runId, toolCallId, world.clock.now);
        await hear(world, record.runId, toolCallId, await expired);
      }
      break;
    case 'enforce':
      await store.runs.end({
        sessionId: SESSION,
        runId: record.runId,
        agentType: 'tester',
        step: record.committedStep,
        status: record.stop?.mode === 'abort' ? 'aborted' : 'interrupted',
        now: world.clock.now,
      });
      break;
    case 'fail':
      await store.runs.end({
        sessionId: SESSION,
        runId: record.runId,
        agentType: 'tester',
        step: record.committedStep,
        status: 'failed',
        error: { code: 'framework_run_lost', message: 'lost', retryable: true },
        now: world.clock.now,
      });
      break;
    default:
  }
}

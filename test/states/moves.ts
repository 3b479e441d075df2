import { modelMoves } from './model-moves.js';
import { openCallsOf } from './open-calls.js';
import { goOn, hear, startRun, sweep } from './simulated-run.js';
import { toolMoves } from './tool-moves.js';
import { driverOf, nextNonce, recordOf, type SimulatedRun, type World } from './world.js';
import { userMessage } from '../support/session-driver.js';
import type { SettleCallResult } from '../../stores/contract/calls.js';

const POLICIES = ['reject', 'queue', 'steer', 'interrupt'] as const;

/** Something that happens; it changes the world that it is given. */
export interface Move {
  name: string;
  apply: (world: World) => Promise<void>;
}

/** Everything that can happen next, from the point of view of whoever decides nothing: all of it. */
export function movesOf(world: World): Move[] {
  const { budget } = world;
  const moves: Move[] = [];
  const add = (name: string, apply: Move['apply']): number => moves.push({ name, apply });
  if (budget.messages > 0) {
    for (const policy of POLICIES) add(`message, ${policy}`, (w) => post(w, policy, true));
    if (budget.lostSignals > 0) add('message, start lost', (w) => post(w, 'reject', false));
  }
  for (const run of Object.values(world.runs)) {
    moves.push(...modelMoves(world, run), ...toolMoves(world, run));
    if (!run.isClosed && budget.terminations > 0) {
      add('workflow terminated', (w) => {
        w.budget.terminations -= 1;
        runOf(w, run).isClosed = true;
        return Promise.resolve();
      });
    }
  }
  for (const { toolCallId, kind } of openCallsOf(world)) {
    for (const delivered of budget.lostSignals > 0 ? [true, false] : [true]) {
      const lost = delivered ? '' : ', signal lost';
      if (kind === 'approval') {
        add(`approve ${toolCallId}${lost}`, (w) => answer(w, toolCallId, 'approve', delivered));
        add(`deny ${toolCallId}${lost}`, (w) => answer(w, toolCallId, 'deny', delivered));
      } else {
        add(`result ${toolCallId}${lost}`, (w) => answer(w, toolCallId, 'result', delivered));
      }
    }
    add(`deadline ${toolCallId}`, (w) => answer(w, toolCallId, 'expire', true));
  }
  if (budget.stops > 0) {
    add('stop', (w) => stop(w, true));
    if (budget.lostSignals > 0) add('stop, signal lost', (w) => stop(w, false));
  }
  add('sweep', sweep);
  return moves;
}

export function runOf(world: World, { runId }: Pick<SimulatedRun, 'runId'>): SimulatedRun {
  const run = world.runs[runId];
  if (run === undefined) throw new Error(`there is no run ${runId}`);
  return run;
}

async function post(
  world: World,
  policy: (typeof POLICIES)[number],
  isStarted: boolean,
): Promise<void> {
  const id = `u${String(world.budget.messages)}`;
  world.budget.messages -= 1;
  if (!isStarted) world.budget.lostSignals -= 1;
  const messages = [userMessage(id)];
  const now = world.clock.now;
  const result = await driverOf(world).begin({ nonce: nextNonce(world), messages, policy, now });
  const told = result.kind === 'interrupting' ? world.runs[result.runId] : undefined;
  if (told !== undefined) await signalStop(world, told);
  if (result.kind === 'queued' && result.begun !== undefined) startRun(world, result.begun.runId);
  if (result.kind !== 'begun') return;
  const { runId, supersededRunId } = result.run;
  const old = supersededRunId === undefined ? undefined : world.runs[supersededRunId];
  if (old !== undefined) await signalStop(world, old);
  if (isStarted) startRun(world, runId);
}

async function answer(
  world: World,
  toolCallId: string,
  how: 'approve' | 'deny' | 'result' | 'expire',
  isDelivered: boolean,
): Promise<void> {
  const runId = newestRunId(world);
  const session = driverOf(world);
  if (!isDelivered) world.budget.lostSignals -= 1;
  if (how === 'expire') world.clock.now += 60_000;
  const result: SettleCallResult =
    how === 'result'
      ? await session.answer(runId, toolCallId, { output: 1 })
      : how === 'expire'
        ? await session.expire(runId, toolCallId, world.clock.now)
        : await session.decide(runId, toolCallId, how === 'approve', world.clock.now);
  if (isDelivered) await hear(world, runId, toolCallId, result);
}

/** The API ends the run itself if no writer confirms: here none ever does in time. */
async function stop(world: World, isDelivered: boolean): Promise<void> {
  world.budget.stops -= 1;
  if (!isDelivered) world.budget.lostSignals -= 1;
  const result = await driverOf(world).stop();
  if (result.kind === 'nothing') return;
  const run = world.runs[result.runId];
  if (isDelivered && run !== undefined) await signalStop(world, run);
}

async function signalStop(world: World, run: SimulatedRun): Promise<void> {
  run.carry = { ...run.carry, stopRequested: true };
  await goOn(world, run);
}

export function newestRunId(world: World): string {
  return recordOf(world)?.root['run'] ?? '';
}

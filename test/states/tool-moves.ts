import { runOf, type Move } from './moves.js';
import { goOn } from './simulated-run.js';
import { driverOf, type SimulatedRun, type World } from './world.js';

/** What can happen to the tools of the run's step, which may outlive its workflow. */
export function toolMoves(world: World, run: SimulatedRun): Move[] {
  return Object.entries(run.tools).flatMap(([toolCallId, tool]) => {
    if (tool.isDone) return [];
    const moves: Move[] = [
      tool.isStarted
        ? { name: `settle ${toolCallId}`, apply: (w) => settle(w, runOf(w, run), toolCallId) }
        : { name: `start ${toolCallId}`, apply: (w) => start(w, runOf(w, run), toolCallId) },
    ];
    if (world.budget.crashes > 0) {
      moves.push({
        name: `worker of ${toolCallId} dies`,
        apply: (w) => {
          w.budget.crashes -= 1;
          const lost = runOf(w, run).tools[toolCallId];
          if (lost !== undefined)
            Object.assign(lost, { attempt: lost.attempt + 1, isStarted: false });
          return Promise.resolve();
        },
      });
    }
    return moves;
  });
}

async function start(world: World, run: SimulatedRun, toolCallId: string): Promise<void> {
  const tool = run.tools[toolCallId];
  if (tool === undefined) return;
  const step = run.calls?.outcome.step ?? 0;
  const result = await driverOf(world).start(run.runId, step, toolCallId, tool.attempt);
  if (result.kind === 'execute') {
    tool.isStarted = true;
    world.executions[toolCallId] = (world.executions[toolCallId] ?? 0) + 1;
  } else if (result.kind === 'fenced') {
    tool.attempt += 1;
  } else {
    tool.isDone = true;
    await goOn(world, run);
  }
}

async function settle(world: World, run: SimulatedRun, toolCallId: string): Promise<void> {
  const tool = run.tools[toolCallId];
  if (tool === undefined) return;
  const step = run.calls?.outcome.step ?? 0;
  await driverOf(world).finishCall(run.runId, step, toolCallId, 'done', tool.attempt);
  tool.isDone = true;
  await goOn(world, run);
}

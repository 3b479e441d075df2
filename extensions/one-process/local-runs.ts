import { setMaxListeners } from 'node:events';
import type { RunOperations } from '../../activities/run-operations.js';
import type { ActivityLogger } from '../../activities/deps.js';
import type { RunWorkflows } from '../../runs/run-workflows.js';
import type { WorkflowState } from '../../runs/workflow-look.js';
import { rootOf, sessionOfRun } from '../../protocol/ids.js';
import type { RunInput } from '../../protocol/run.js';
import type { Loop } from '../../run/loop.js';
import { createAttempts, LeftOff, TakenOver } from './attempts.js';
import { createLocalLoop } from './local-loop.js';
import type { Clock } from './clock.js';

/** The runs that this process carries out. */
export interface LocalRuns extends RunWorkflows {
  has: (runId: string) => boolean;
  isIdle: () => boolean;
  /** Resolves when no run is active or waiting. */
  idle: () => Promise<void>;
  /** Leaves all runs to their records; resolves when none of their work is in progress. */
  leave: () => Promise<void>;
}

export interface LocalRunsDeps {
  /** Fleet name in the list of due sessions; executors of one name share their runs. */
  name: string;
  clock: Clock;
  /** Returns the work of a run. It refers back to these runs, so it is created later. */
  operations: () => RunOperations;
  /** Begins a recorded run that this process does not carry out yet, because an answer arrived for it. */
  revive: (sessionId: string) => Promise<void>;
  /** Resolves to true if any process has begun to carry out the run. */
  isBegun: (runId: string) => Promise<boolean>;
  logger: ActivityLogger;
}

interface Carried {
  input: RunInput;
  loop: Loop;
  done: Promise<void>;
}

/** Implements `RunWorkflows`, which Temporal implements otherwise, for the runs of one process. */
export function createLocalRuns(deps: LocalRunsDeps): LocalRuns {
  const { name, clock, logger } = deps;
  const leaving = new AbortController();
  const { signal } = leaving;
  // Each waiting run adds a listener, and Node warns of more than ten.
  setMaxListeners(0, signal);
  const carried = new Map<string, Carried>();
  /** Runs that failed for good; the sweeper ends them. */
  const givenUp = new Set<string>();
  const attempts = createAttempts({ clock, signal, logger });
  const askToLook = (runId: string): void => carried.get(runId)?.loop.look();
  let operations: RunOperations | undefined;

  function begin(input: RunInput): Carried {
    const known = carried.get(input.runId);
    if (known !== undefined) return known;
    operations ??= deps.operations();
    givenUp.delete(input.runId);
    const of = { operations, attempts, clock, leaving: signal, carryChild, askToLook };
    const loop = createLocalLoop(of, input);
    const done = loop
      .run()
      .then(() => undefined)
      .catch((error: unknown) => {
        if (error instanceof LeftOff) return;
        const isStuck = !(error instanceof TakenOver);
        if (isStuck) givenUp.add(input.runId);
        const how = isStuck ? 'a run is stuck' : 'another process has this run';
        logger.warn({ err: error, runId: input.runId }, how);
      })
      .finally(() => {
        carried.delete(input.runId);
      });
    const begun = { input, loop, done };
    carried.set(input.runId, begun);
    return begun;
  }

  /** A run that another process of this name has begun counts as running until `recover` takes it. */
  async function stateOf(runId: string): Promise<WorkflowState> {
    if (givenUp.has(runId)) return 'closed';
    return carried.has(runId) || (await deps.isBegun(runId)) ? 'running' : 'unknown';
  }

  async function carryChild(input: RunInput): Promise<void> {
    await begin(input).done;
    if (signal.aborted) throw new LeftOff();
  }

  return {
    fleet: `in-process/${name}`,
    namespace: 'in-process',
    has: (runId) => carried.has(runId),
    start: (input) => {
      if (!signal.aborted) begin(input);
      return Promise.resolve();
    },
    wake: async (runId, hint) => {
      const known = carried.get(runId);
      if (known !== undefined) known.loop.look(hint);
      else if (!signal.aborted) await deps.revive(rootOf(sessionOfRun(runId)));
    },
    state: stateOf,
    look: async (runId) => {
      const below = [...carried.values()].map(({ input }) => input);
      return {
        state: await stateOf(runId),
        isAtWork: carried.get(runId)?.loop.isBusy() ?? true,
        started: [],
        children: below.flatMap((run) => (run.parent?.runId === runId ? [run.runId] : [])),
      };
    },
    retry: () => Promise.resolve(),
    closedSince: () => Promise.resolve([]),
    openPage: () => Promise.resolve({ runIds: [], next: undefined }),
    erase: (_sessionId, { runs, childRuns }) => {
      for (const runId of [...runs, ...childRuns]) {
        givenUp.delete(runId);
        // It finds no record and ends.
        carried.get(runId)?.loop.look();
      }
      return Promise.resolve({ deleted: 0, unknown: [] });
    },
    isIdle: () => carried.size === 0,
    idle: async () => {
      while (carried.size > 0) await Promise.all([...carried.values()].map(({ done }) => done));
    },
    leave: async () => {
      leaving.abort(new LeftOff());
      await Promise.all([...carried.values()].map(({ done }) => done));
    },
  };
}

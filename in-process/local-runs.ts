import type { RunParts } from '../activities/run-parts.js';
import type { ActivityLogger } from '../activities/deps.js';
import type { RunWorkflows } from '../executor/run-workflows.js';
import type { WorkflowState } from '../executor/workflow-look.js';
import { rootOf, sessionOfRun } from '../protocol/ids.js';
import type { AnswerSignal, RunInput } from '../protocol/run.js';
import { createAttempts, LeftOff, TakenOver } from './attempts.js';
import { createCarryRun } from './carry-run.js';
import type { Clock } from './clock.js';
import { createLocalRun, type LocalRun } from './local-run.js';

/** The runs that this process carries out. */
export interface LocalRuns extends RunWorkflows {
  has: (runId: string) => boolean;
  isIdle: () => boolean;
  /** Resolves when none is active or waits. */
  idle: () => Promise<void>;
  /** Leaves all runs as they are in the record; resolves when nothing of them is in progress. */
  leave: () => Promise<void>;
}

export interface LocalRunsDeps {
  /** Names the executors that share their runs: the fleet in the list of due sessions. */
  name: string;
  clock: Clock;
  /** The parts of a run; they know this, so they are made later. */
  parts: () => RunParts;
  /** Begins a run of the record that this process does not know: an answer has come for it. */
  revive: (sessionId: string) => Promise<void>;
  /** True if a process has carried the run on since it was accepted. */
  isBegun: (runId: string) => Promise<boolean>;
  logger: ActivityLogger;
}

interface Carried {
  run: LocalRun;
  done: Promise<void>;
}

/** The runs of one process behind the seam at which Temporal has the runs of many. */
export function createLocalRuns(deps: LocalRunsDeps): LocalRuns {
  const { name, clock, logger } = deps;
  const leaving = new AbortController();
  // Each waiting run listens.
  const { signal } = leaving;
  const carried = new Map<string, Carried>();
  /** Runs with a fault that repetition did not mend: the sweeper ends them. */
  const givenUp = new Set<string>();
  /** Answers for runs that are about to begin. */
  const early = new Map<string, AnswerSignal[]>();
  const attempts = createAttempts({ clock, signal, logger });
  let carryRun: ReturnType<typeof createCarryRun> | undefined;

  function begin(input: RunInput): Carried {
    const known = carried.get(input.runId);
    if (known !== undefined) return known;
    carryRun ??= createCarryRun({
      parts: deps.parts(),
      attempts,
      clock,
      leaving: signal,
      carryChild,
    });
    givenUp.delete(input.runId);
    const run = createLocalRun(input);
    const done = carryRun(run)
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
    const begun = { run, done };
    carried.set(input.runId, begun);
    for (const answer of early.get(input.runId) ?? []) run.answer(answer);
    early.delete(input.runId);
    return begun;
  }

  /** What another process of this name has begun is left to it, until `recover` says otherwise. */
  async function stateOf(runId: string): Promise<WorkflowState> {
    if (givenUp.has(runId)) return 'closed';
    return carried.has(runId) || (await deps.isBegun(runId)) ? 'running' : 'unknown';
  }

  async function carryChild(input: RunInput): Promise<void> {
    const child = begin(input);
    const parent = carried.get(input.parent?.runId ?? '');
    const over = new AbortController();
    // The record has the stop; a child that waits for a person must be woken.
    parent?.run
      .until(() => parent.run.carry.stopRequested, {
        clock,
        signal: AbortSignal.any([over.signal, signal]),
      })
      .then(
        () => {
          child.run.stop({ recorded: true });
        },
        () => undefined,
      );
    await child.done;
    over.abort();
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
    answer: async (runId, answer) => {
      const known = carried.get(runId);
      if (known !== undefined) {
        known.run.answer(answer);
        return;
      }
      if (signal.aborted || answer.resume === undefined) return;
      early.set(runId, [...(early.get(runId) ?? []), answer]);
      await deps.revive(rootOf(sessionOfRun(runId)));
    },
    wake: async (runId) => {
      const known = carried.get(runId);
      if (known !== undefined) known.run.look();
      else if (!signal.aborted) await deps.revive(rootOf(sessionOfRun(runId)));
    },
    stop: (runId, stop) => {
      carried.get(runId)?.run.stop(stop);
      return Promise.resolve();
    },
    state: stateOf,
    look: async (runId) => {
      const below = [...carried.values()].map(({ run }) => run.input);
      return {
        state: await stateOf(runId),
        isAtWork: carried.get(runId)?.run.isAtWork() ?? true,
        started: [],
        children: below.flatMap((run) => (run.parent?.runId === runId ? [run.runId] : [])),
      };
    },
    retry: () => Promise.resolve(),
    closedSince: () => Promise.resolve([]),
    openPage: () => Promise.resolve({ runIds: [], next: undefined }),
    erase: (_sessionId, { runs }) => {
      for (const runId of runs) {
        early.delete(runId);
        givenUp.delete(runId);
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

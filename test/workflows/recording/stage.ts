import type { Client } from '@temporalio/client';
import { randomBytes } from 'node:crypto';
import { workflowIdOf } from '../../../protocol/ids.js';
import type { AgentState } from '../../../protocol/run.js';
import type { RunRecord } from '../../../store/contract/runs.js';
import type { GatedAgent } from '../../support/gated-agent.js';
import type { RunHarness } from '../../support/run-harness.js';
import type { TestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

export type History = Awaited<
  ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>
>;

type Attributes = keyof NonNullable<History['events']>[number];

/** Plays an event in a run's life and returns the run's history. */
export type Scenario = (stage: Stage) => Promise<History>;

/** The stage of scenarios: real engines, a worker, and scripted agents. */
export interface Stage {
  runs: RunHarness;
  stores: TestStores;
  gated: GatedAgent;
  /** Begins a run of `agent` (or another) with a script, one entry per model call. */
  play: (script: object[], agent?: string) => Promise<RunRecord>;
  /** Begins a run that a gate holds; returns the gate's name first. */
  hold: (verb: 'speak' | 'call') => Promise<[gate: string, run: RunRecord]>;
  /** Resolves when the workflow waits for people. */
  untilWaits: (run: RunRecord) => Promise<unknown>;
  /** Resolves when the history has this many events with these attributes. */
  untilEvents: (run: RunRecord, attributes: Attributes, count: number) => Promise<unknown>;
  update: (run: RunRecord, name: string, given: object) => Promise<unknown>;
  /** Returns a run's history once its workflow has ended; `execution` selects one of several. */
  history: (runId: string, execution?: string) => Promise<History>;
}

export function setStage(runs: RunHarness, stores: TestStores, gated: GatedAgent): Stage {
  const handleOf = (runId: string, execution?: string) =>
    runs.client.workflow.getHandle(workflowIdOf(runId), execution, {
      followRuns: execution === undefined,
    });
  return {
    runs,
    stores,
    gated,
    play: (script, agent = 'agent') =>
      runs.begin(runs.newSessionId(), agent, JSON.stringify({ script })),
    hold: async (verb) => {
      const gate = randomBytes(4).toString('hex');
      const run = await runs.begin(runs.newSessionId(), gated.agent.name, `${verb} ${gate}`);
      await gated.reached(gate);
      return [gate, run];
    },
    untilWaits: ({ runId }) =>
      until('the workflow waits for people', async () => {
        const state = await handleOf(runId).query<AgentState>('agentState');
        return state.phase === 'waiting' ? state : undefined;
      }),
    untilEvents: ({ runId }, attributes, count) =>
      until(`${String(count)} events with ${attributes}`, async () => {
        const { events } = await handleOf(runId).fetchHistory();
        return (events ?? []).filter((event) => event[attributes]).length >= count;
      }),
    update: ({ runId }, name, given) =>
      handleOf(runId).executeUpdate<unknown, [object]>(name, { args: [given] }),
    history: async (runId, execution) => {
      // The executor starts workflows in the background, so this one may not exist yet.
      await runs.executor.idle();
      const handle = handleOf(runId, execution);
      await handle.result().catch(() => undefined);
      return handle.fetchHistory();
    },
  };
}

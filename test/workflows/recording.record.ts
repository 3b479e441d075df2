import { mkdir, writeFile } from 'node:fs/promises';
import { startPrivateTemporal } from '../../scripts/engines/private-engines.mjs';
import { requireProgram } from '../support/require-program.js';
import type { RunNotices, RunShape } from '../../protocol/run.js';
import { FIRING_WORKFLOW_TYPE } from '../../protocol/temporal.js';
import { createRunHarness } from '../support/run-harness.js';
import { openTestStores } from '../support/test-stores.js';
import type { TemporalServer } from '../support/temporal-server.js';
import { createRecordedAgents } from './recording/agents.js';
import { asking, notified } from './recording/asking.js';
import { historiesFolder, KEPT } from './recording/histories.js';
import { recordLong } from './recording/long.js';
import { replay } from './recording/replay.js';
import { scrub, tracesIn } from './recording/scrub.js';
import { setStage, type History, type Scenario, type Stage } from './recording/stage.js';
import { stopping } from './recording/stopping.js';
import { subAgents } from './recording/sub-agents.js';
import { turns } from './recording/turns.js';

// Plays runs on every path of the workflow, replays their histories and stores those of KEPT: until
// the first release on every change of commands, later under further names.

const SAYS_DONE = JSON.stringify({ script: [] });

/** Events after which the server suggests to continue as new. */
const SUGGESTED_AT = 30;

async function openStage(address?: string, shape?: RunShape, notify?: RunNotices): Promise<Stage> {
  const { all, gated } = createRecordedAgents(shape);
  const stores = await openTestStores();
  const runs = await createRunHarness(stores, all, address, undefined, notify);
  await runs.startWorker();
  return setStage(runs, stores, gated);
}

async function take(name: string, history: History): Promise<void> {
  const json = scrub(history);
  expect(tracesIn(json)).toEqual([]);
  await replay(json);
  if (!KEPT.includes(name)) return;
  await mkdir(historiesFolder, { recursive: true });
  await writeFile(`${historiesFolder}${name}.json`, json);
}

const scenarios: Record<string, Scenario> = { ...turns, ...asking, ...stopping, ...subAgents };

describe('a run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  }, 60_000);

  it.each(Object.entries(scenarios))(
    '%s replays as it went',
    async (name, scenario) => {
      await take(name, await scenario(stage));
    },
    60_000,
  );

  it('a firing of a schedule replays as it went', async () => {
    const { client, taskQueue } = stage.runs;
    const scheduled = { agent: 'agent', message: SAYS_DONE, owner: 'ann', whenBusy: 'skip' };
    const options = { workflowId: `firing:${taskQueue}`, taskQueue, args: [scheduled] };
    const firing = await client.workflow.start(FIRING_WORKFLOW_TYPE, options);
    await firing.result();
    await take('firing', await firing.fetchHistory());
  }, 60_000);
});

describe('a run in legs', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(undefined, 'leg');
  }, 60_000);

  it.each(Object.entries(scenarios))(
    '%s replays as it went',
    async (name, scenario) => {
      await take(`leg-${name}`, await scenario(stage));
    },
    60_000,
  );
});

describe('a run with receivers', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(undefined, undefined, { calls: ['approval'], ends: ['completed'] });
  }, 60_000);

  it('a wait and an end that receivers are notified of replay as they went', async () => {
    const history = await notified(stage);
    expect(startedIn(history).map(([type]) => type)).toEqual(['notifyWaiting', 'notifyEnd']);
    await take('notified', history);
    const [[, first] = []] = startedIn(history);
    const notices = stage.runs.client.workflow.getHandle(first ?? '');
    await notices.result();
    await take('notices', await notices.fetchHistory());
  }, 60_000);
});

/** Returns type and id of the workflows that an execution has started. */
function startedIn({ events }: History): (string | null | undefined)[][] {
  return (events ?? []).flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) =>
    child == null ? [] : [[child.workflowType?.name, child.workflowId]],
  );
}

describe('a long run', () => {
  let temporal: TemporalServer;
  beforeAll(async () => {
    temporal = await startPrivateTemporal({
      file: requireProgram('TEMPORAL_CLI_PATH'),
      dynamicConfig: { 'limit.historyCount.suggestContinueAsNew': SUGGESTED_AT },
    });
  }, 60_000);
  afterAll(() => temporal.close());

  it('a long run replays in each of its executions', async () => {
    const recorded = await recordLong(await openStage(temporal.address));
    for (const [name, history] of Object.entries(recorded)) await take(name, history);
    expect(JSON.stringify(recorded['goes-on-as-new'])).toContain('ContinuedAsNew');
  }, 60_000);
});

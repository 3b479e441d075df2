import { mkdir, writeFile } from 'node:fs/promises';
import { createLabAgent } from '../../examples/lab/agent.js';
import { createRunHarness } from '../support/run-harness.js';
import { openTestStores } from '../support/test-stores.js';
import { readStored } from '../support/chat-fetch.js';
import { createPlayer } from './recorded/play-changes.js';
import { recordChanges, type Recorder } from './recorded/record-changes.js';
import { formatChanges, splitAppends, turnsFolder } from './recorded/recorded-turns.js';
import { recordedScenarios } from './recorded/scenarios.js';
import { setStage, type Stage } from './recorded/stage.js';

// Plays turns on the real engines, and plays what their stores went through again in memory. They are kept for
// the tests that reload pages at every point of them.

describe('a recorded turn', () => {
  let stage: Stage;
  let recorder: Recorder<Awaited<ReturnType<typeof openTestStores>>>;

  beforeAll(async () => {
    recorder = recordChanges(await openTestStores());
    const lab = createLabAgent({ countCharge: () => Promise.resolve() });
    const runs = await createRunHarness(recorder.stores, [lab]);
    await runs.startWorker();
    stage = setStage(runs, recorder.stores);
  }, 60_000);

  it.each(Object.entries(recordedScenarios))(
    '%s has the same outcome in memory',
    async (name, scenario) => {
      const { sessionId } = await scenario(stage);
      const changes = recorder.logOf(sessionId);
      const player = createPlayer(splitAppends(changes));
      while (player.ahead().length > 0) await player.play();
      const real = await readStored(recorder.stores, sessionId);
      expect(await readStored(player, sessionId)).toEqual(real);
      await mkdir(turnsFolder, { recursive: true });
      await writeFile(`${turnsFolder}${name}.json`, formatChanges(changes));
    },
    60_000,
  );
});

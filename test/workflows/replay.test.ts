import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createRunHarness } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores } from '../support/test-stores.js';
import { recordHistory } from './record-history.js';

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
const folder = fileURLToPath(new URL('./histories/', import.meta.url));

/** Set to a release's name, `npm test -- test/workflows/replay` records its history. */
const record = process.env['RECORD_HISTORY'];
if (record !== undefined) {
  it('records a history', async () => {
    const { agent } = createTestAgent();
    const runs = await createRunHarness(await openTestStores(), [agent]);
    await runs.startWorker();
    await recordHistory(runs, agent.name, `${folder}${record}.json`);
    expect(existsSync(`${folder}${record}.json`)).toBe(true);
  });
}

async function readHistory(name: string): Promise<{ events: Record<string, unknown>[] }> {
  return JSON.parse(await readFile(`${folder}${name}`, 'utf8')) as {
    events: Record<string, unknown>[];
  };
}

const replay = async (history: object): Promise<void> => {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
  } catch {
    // Installed before.
  }
  await Worker.runReplayHistory({ workflowsPath, bundlerOptions: {} }, history);
};

describe('histories of releases', () => {
  it('replay on the workflow code of today', async () => {
    const names = await readdir(folder);
    expect(names).toContain('v0.1.0-approval.json');
    for (const name of names) await replay(await readHistory(name));
  });

  it('would tell if the code decided otherwise', async () => {
    const history = await readHistory('v0.1.0-approval.json');
    const text = JSON.stringify(history).replaceAll('"modelStep"', '"otherStep"');
    await expect(replay(JSON.parse(text) as object)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineAgent } from '../../agents/index.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { labShape } from '../support/lab-shape.js';
import {
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { openTestStores, sharedRedisUrl, type TestStores } from '../support/test-stores.js';

const PROGRAM = fileURLToPath(new URL('../support/crashing-worker.mjs', import.meta.url));

/** The API's view of the agents; the definitions that matter are the worker's. */
const known = (name: string) => {
  const model = fakeModel(() => parts.finish());
  const activities = labShape();
  return defineAgent({ name, systemPrompt: '', tools: [], llmConfig: { model }, activities });
};

let stores: TestStores;
let runs: RunHarness;
let folder: string;
let child: ChildProcess | undefined;
let isOver = false;

/** As a supervisor does: whenever the worker dies another one is started. */
function supervise(): void {
  if (isOver) return;
  child = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env['PATH'],
      REDIS_URL: sharedRedisUrl(),
      TEMPORAL_ADDRESS: sharedTemporalAddress(),
      TASK_QUEUE: runs.taskQueue,
      CRASHES: join(folder, 'crashes'),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.once('exit', supervise);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'helix-crashes-'));
  stores = await openTestStores();
  runs = await createRunHarness(stores, [known('crashing-prompt'), known('crashing-tool')]);
  supervise();
});
afterAll(() => {
  isOver = true;
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function crashesOf(sessionId: string): number {
  const lines = readFileSync(join(folder, 'crashes'), 'utf8').split('\n');
  return lines.filter((line) => line === sessionId).length;
}

describe('what kills its worker', () => {
  it('a prompt function: the run ends typed after five attempts, and the session answers', async () => {
    const run = await runs.begin(runs.newSessionId(), 'crashing-prompt', 'go');
    expect(await runs.result(run)).toEqual({ failed: 'attempts_exhausted' });
    expect(crashesOf(run.sessionId)).toBe(5);
    expect(await stores.store.sessions.read(run.sessionId)).toMatchObject({
      status: 'failed',
      stream: 'failed',
      error: { code: 'attempts_exhausted', retryable: false },
    });
    const next = await runs.begin(run.sessionId, 'crashing-prompt', 'again');
    await runs.executor.stop(run.sessionId, { mode: 'abort' });
    await runs.result(next);
  }, 240_000);

  it('an idempotent tool: its outcome is unknown after five executions, and the run continues', async () => {
    const run = await runs.begin(runs.newSessionId(), 'crashing-tool', 'go');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    expect(crashesOf(run.sessionId)).toBe(5);
    expect(await stores.store.sessions.rows(run.sessionId, 2)).toMatchObject([
      { role: 'tool', toolCallId: 'c1', errorCode: 'tool_outcome_unknown' },
      { role: 'assistant', parts: [{ type: 'text', text: 'It survived me.' }] },
    ]);
  }, 240_000);
});

import { settleTool, startCall } from '../call-moves.js';
import type { Driver } from '../driver.js';
import { modelOf, newCall, toolOf, type Scene } from '../inputs.js';
import { ENTRIES, wordyStep } from '../large-sessions.js';
import { begin, claim, commit, commitServerCalls, end, say } from '../moves.js';
import type { Side } from '../side.js';
import { openWriter, streamWriter } from '../states.js';

/** Circumstances in which transitions were found to take longest. */
export type Opening = (side: Side) => Promise<Scene>;

const TOOLS = 20;

async function claimed(driver: Driver): Promise<Scene> {
  const scene = await begin(driver, 'finding', 'base');
  await claim(driver, modelOf(scene));
  return scene;
}

/** Twenty-one tools are running. */
async function runTools(driver: Driver): Promise<Scene> {
  const scene = await commitServerCalls(driver, await claimed(driver), TOOLS + 1);
  for (let n = 1; n <= TOOLS + 1; n += 1) await startCall(driver, scene, n);
  return scene;
}

/** The twenty-first has sent all chunks and is settled. */
export const oneToolSpoke: Opening = async ({ driver }) => {
  const scene = await runTools(driver);
  await say(driver, toolOf(scene, TOOLS + 1), ENTRIES);
  await settleTool(driver, scene, TOOLS + 1);
  return scene;
};

/** Each of the other twenty has sent its share of the chunks. */
export const allToolsSpoke: Opening = async ({ driver }) => {
  const scene = await runTools(driver);
  for (let n = 1; n <= TOOLS; n += 1) await say(driver, toolOf(scene, n), ENTRIES / TOOLS);
  await settleTool(driver, scene, TOOLS + 1);
  return scene;
};

/** The only call of a step, which may be repeated, has sent all chunks. */
export const callSpoke: Opening = async ({ driver }) => {
  const scene = await claimed(driver);
  const called = await commit(driver, scene, [newCall(scene, 1, 'server', { idempotent: true })]);
  await startCall(driver, called, 1);
  await say(driver, toolOf(called, 1), ENTRIES);
  return called;
};

export const modelSpoke: Opening = async ({ driver }) => {
  const scene = await claimed(driver);
  await say(driver, modelOf(scene), ENTRIES);
  return scene;
};

export const modelSpokeAndFailed: Opening = async (side) => {
  const scene = await modelSpoke(side);
  await end(side.driver, scene);
  return scene;
};

/** The turn before the newest one has more entries than a stream is to keep. */
export const oldTurnSpoke: Opening = async ({ driver }) => {
  const wordy = await wordyStep(driver, await begin(driver, 'finding', 'base'));
  await claim(driver, modelOf(wordy));
  await commit(driver, wordy, []);
  const newest = await begin(driver, 'finding', 'newest');
  await claim(driver, modelOf(newest));
  return commit(driver, newest, []);
};

/** A stream without a session, whose second step sent all chunks. */
export const streamSpoke: Opening = async ({ driver }) => {
  const stream = { sessionId: 'finding', runId: '', messageId: '', step: 0 };
  for (const step of [1, 2]) await openWriter(driver, stream, step);
  await say(driver, streamWriter(stream, 1), 5);
  await say(driver, streamWriter(stream, 2), ENTRIES);
  return stream;
};

/** Nothing is there. */
export const nothing: Opening = async () => {
  const sessionId = 'finding';
  return { sessionId, runId: `${sessionId}:1-base`, messageId: 'msg-1', step: 0 };
};

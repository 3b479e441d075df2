import { NO_RUN, type Driver, type Writer } from './driver.js';
import { AGENT, callId, modelOf, question, subAgentOf, type Scene } from './inputs.js';
import { beginSubAgent, settleTool, startCall } from './call-moves.js';
import {
  begin,
  claim,
  commit,
  commitDelegation,
  commitServerCalls,
  end,
  must,
  say,
} from './moves.js';

/** Continues from a turn whose next step is unclaimed. */
export type Path = (driver: Driver, scene: Scene) => Promise<Scene>;

/** Entries of a small attempt. */
const WORDS = 5;

const claimed: Path = async (driver, scene) => {
  await claim(driver, modelOf(scene));
  return scene;
};

const spoken: Path = async (driver, scene) => {
  await claimed(driver, scene);
  await say(driver, modelOf(scene), WORDS);
  return scene;
};

const called: Path = async (driver, scene) =>
  commitServerCalls(driver, await spoken(driver, scene), 2);

const started: Path = async (driver, scene) => {
  const next = await called(driver, scene);
  for (const n of [1, 2]) await startCall(driver, next, n);
  return next;
};

const settled: Path = async (driver, scene) => {
  const next = await started(driver, scene);
  for (const n of [1, 2]) await settleTool(driver, next, n);
  return next;
};

/** A turn of two steps with two calls between them is over. */
const rested: Path = async (driver, scene) => {
  const next = await spoken(driver, await settled(driver, scene));
  return commit(driver, next, []);
};

const asking =
  (kind: 'approval' | 'client'): Path =>
  async (driver, scene) => {
    const asked = await commit(driver, await spoken(driver, scene), [question(scene, kind)]);
    const { deadline = 0 } = (await driver.readCall(scene.sessionId, callId(asked, 1))) ?? {};
    return { ...asked, deadline };
  };

const queuing: Path = async (driver, scene) => {
  await spoken(driver, scene);
  await begin(driver, scene.sessionId, 'waits', 'queue');
  return scene;
};

const delegated: Path = async (driver, scene) =>
  commitDelegation(driver, await spoken(driver, scene));

/** The scene stays the conversation's. */
const delegating: Path = async (driver, scene) => {
  const next = await delegated(driver, scene);
  await beginSubAgent(driver, next);
  await claim(driver, modelOf({ ...subAgentOf(next), messageId: '', step: 0 }));
  return next;
};

/** The writer of that step, in a stream that has no runs. */
export function streamWriter({ sessionId }: Scene, step: number, token = 1): Writer {
  const name = `w${String(step)}`;
  return { sessionId, runId: NO_RUN, name, token, agentType: AGENT, step };
}

export async function openWriter(
  { streams }: Driver,
  stream: Scene,
  step: number,
  token = 1,
): Promise<void> {
  const writer = streamWriter(stream, step, token);
  must(await streams.openWriter(writer, `attempt ${String(token)}`, Date.now()), 'opened');
}

/** States that transitions start from, each by the transitions that lead there. */
export const STATES = {
  /** Nothing is there: the session has been erased. */
  none: async (driver, scene) => {
    await end(driver, scene);
    await driver.delete(scene.sessionId);
    return scene;
  },
  ready: async (_driver, scene) => scene,
  claimed,
  spoken,
  called,
  started,
  settled,
  rested,
  approval: asking('approval'),
  client: asking('client'),
  queuing,
  queued: async (driver, scene) => commit(driver, await queuing(driver, scene), []),
  delegated,
  delegating,
  failed: async (driver, scene) => {
    await spoken(driver, scene);
    await end(driver, scene);
    return scene;
  },
  /** A stream without a session: so many words in each of two steps. */
  stream: async (driver, scene) => {
    const stream = { ...scene, sessionId: `${scene.sessionId}-stream` };
    for (const step of [1, 2]) {
      await openWriter(driver, stream, step);
      await say(driver, streamWriter(stream, step), WORDS);
    }
    return stream;
  },
} satisfies Record<string, Path>;

export type StateName = keyof typeof STATES;

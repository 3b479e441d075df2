import { answer, beginSubAgent, settleTool, startCall } from './call-moves.js';
import type { Driver } from './driver.js';
import { modelOf, refOf, subAgentOf, type Scene } from './inputs.js';
import { growCalls, growSubAgents, growTurns } from './layout.js';
import { begin, claim, commit, commitDelegation, commitServerCalls, say } from './moves.js';
import type { Side } from './side.js';

/** In the turn that runs. */
export const ENTRIES = 10_000;
/** Of turns that are over: a question and a reply each. */
export const ROWS = 100_000;
const SUB_AGENTS = 5_000;
const CALLS = 50_000;

/** A session with a long past. */
export interface LargeSession {
  /** For the head of a column. */
  name: string;
  /** Builds it, up to a turn whose next step is unclaimed. */
  open: (side: Side) => Promise<Scene>;
}

/** One turn of a question and a reply. */
async function shortTurn(driver: Driver, scene: Scene): Promise<Scene> {
  await claim(driver, modelOf(scene));
  return commit(driver, scene, []);
}

/** A step that sent many chunks and then called a tool. */
export async function wordyStep(driver: Driver, scene: Scene): Promise<Scene> {
  await claim(driver, modelOf(scene));
  await say(driver, modelOf(scene), ENTRIES);
  return oneCall(driver, scene);
}

async function oneCall(driver: Driver, scene: Scene): Promise<Scene> {
  const called = await commitServerCalls(driver, scene, 1);
  await startCall(driver, called, 1);
  await settleTool(driver, called, 1);
  return called;
}

/** At rest after that many rows. */
export async function openRows({ driver, place }: Side): Promise<Scene> {
  const scene = await shortTurn(driver, await begin(driver, 'large-rows', 'past'));
  await growTurns(place, scene.sessionId, ROWS / 2);
  return scene;
}

/** At rest after a turn with that many sub-agents; each of them has called a tool. */
export async function openSubAgents(side: Side, driver: Driver): Promise<Scene> {
  const begun = await begin(driver, 'large-sub-agents', 'past');
  await claim(driver, modelOf(begun));
  const delegated = await commitDelegation(driver, begun, 1);
  await beginSubAgent(driver, delegated, 1);
  const child: Scene = { ...subAgentOf(begun, 1), messageId: 'msg-1', step: 0 };
  await claim(driver, modelOf(child));
  await shortTurn(driver, await oneCall(driver, child));
  await answer(driver, delegated, 'child');
  const scene = await shortTurn(driver, delegated);
  await growSubAgents(side.place, scene.sessionId, SUB_AGENTS);
  return scene;
}

/** An idle session after one rewind: claims list the ids of calls whose rows are gone. */
async function openCalls({ driver, place }: Side): Promise<Scene> {
  const first = await shortTurn(driver, await begin(driver, 'large-calls', 'past'));
  const input = { ...refOf(first), nonce: 'again', mode: 'retry' as const };
  const result = await driver.rewind(input);
  if (result.kind !== 'rewound') throw new Error(`wanted rewound, got ${result.kind}`);
  const scene = await shortTurn(driver, { ...first, runId: result.run.runId, step: 0 });
  await growCalls(place, scene.sessionId, CALLS);
  return scene;
}

const withNextTurn =
  (open: (side: Side) => Promise<Scene>): LargeSession['open'] =>
  async (side) =>
    begin(side.driver, (await open(side)).sessionId, 'base');

export const LARGE_SESSIONS: readonly LargeSession[] = [
  {
    name: '10k entries',
    open: async ({ driver }) => wordyStep(driver, await begin(driver, 'large-entries', 'base')),
  },
  { name: '100k rows', open: withNextTurn(openRows) },
  {
    name: '5k sub-agents',
    open: withNextTurn((side) => openSubAgents(side, side.driver)),
  },
  { name: '50k calls', open: withNextTurn(openCalls) },
];

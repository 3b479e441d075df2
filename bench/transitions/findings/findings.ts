import { settleTool, startCall } from '../call-moves.js';
import { branch } from '../cases/branch.js';
import { discard } from '../cases/step-cases.js';
import { modelOf, refOf, type Scene } from '../inputs.js';
import { openRows, openSubAgents, ROWS } from '../large-sessions.js';
import { pastTurn } from '../layout.js';
import { begin, claim, end, must } from '../moves.js';
import type { Side } from '../side.js';
import { openWriter } from '../states.js';
import {
  allToolsSpoke,
  callSpoke,
  modelSpoke,
  modelSpokeAndFailed,
  nothing,
  oldTurnSpoke,
  oneToolSpoke,
  streamSpoke,
  type Opening,
} from './openings.js';

/** A transition in circumstances that are hard on it. */
export interface Finding {
  name: string;
  open: Opening;
  act: (side: Side, scene: Scene) => Promise<unknown>;
}

const stop: Finding['act'] = async ({ driver }, { sessionId }) =>
  must(await driver.stop(sessionId, { mode: 'interrupt' }), 'ended');

const fail: Finding['act'] = ({ driver }, scene) => end(driver, scene);

const rewind =
  (turn: number, by: 'turn' | 'checkpoint'): Finding['act'] =>
  async ({ driver }, scene) => {
    const { runId } = pastTurn(scene.sessionId, ROWS / 2);
    const input = { ...refOf(scene), runId, nonce: 'again' };
    const { id: messageId, checkpointId } = pastTurn(scene.sessionId, turn);
    const result =
      by === 'turn'
        ? driver.rewind({ ...input, mode: 'retry', messageId })
        : driver.rewind({ ...input, mode: 'from_checkpoint', checkpointId });
    must(await result, 'rewound');
  };

/** A conversation of many sub-agents that expires. */
const expiring: Opening = (side) => openSubAgents(side, side.expiring);

const expiringTurn: Opening = async (side) => {
  const { sessionId } = await expiring(side);
  const scene = await begin(side.expiring, sessionId, 'newest');
  await claim(side.expiring, modelOf(scene));
  return scene;
};

const NEWEST = ROWS / 2;
const MIDDLE = ROWS / 4;

export const FINDINGS: readonly Finding[] = [
  { name: 'stop, 20 tools run beside 10,000 entries', open: oneToolSpoke, act: stop },
  { name: 'end, 20 tools run beside 10,000 entries', open: oneToolSpoke, act: fail },
  { name: 'stop, 20 tools wrote 500 entries each', open: allToolsSpoke, act: stop },
  { name: 'end, 20 tools wrote 500 entries each', open: allToolsSpoke, act: fail },
  {
    name: 'settle, tool with events wrote 10,000',
    open: callSpoke,
    act: ({ driver }, scene) => settleTool(driver, scene, 1, true),
  },
  {
    name: 'start call, over an attempt of 10,000',
    open: callSpoke,
    act: ({ driver }, scene) => startCall(driver, scene, 1, 2),
  },
  {
    name: 'discard of 10,000 entries',
    open: modelSpoke,
    act: ({ driver }, scene) => discard(driver, scene),
  },
  {
    name: 'claim, over an attempt of 10,000',
    open: modelSpoke,
    act: ({ driver }, scene) => claim(driver, modelOf(scene, 2)),
  },
  {
    name: 'resume after failure, 10,000 entries',
    open: modelSpokeAndFailed,
    act: async ({ driver }, scene) =>
      must(await driver.resumeRun({ ...refOf(scene), nonce: 'on', mode: 'continue' }), 'resumed'),
  },
  {
    name: 'rewind of a turn of 10,000 entries',
    open: modelSpokeAndFailed,
    act: async ({ driver }, scene) =>
      must(await driver.rewind({ ...refOf(scene), nonce: 'again', mode: 'retry' }), 'rewound'),
  },
  {
    name: 'begin, trims 10,000 entries',
    open: oldTurnSpoke,
    act: ({ driver }, { sessionId }) => begin(driver, sessionId, 'next'),
  },
  {
    name: 'cleanupToStep, 10,000 entries',
    open: streamSpoke,
    act: ({ driver }, { sessionId }) => driver.streams.cleanupToStep(sessionId, 1),
  },
  {
    name: 'open writer, over an attempt of 10,000',
    open: streamSpoke,
    act: ({ driver }, stream) => openWriter(driver, stream, 2, 2),
  },
  { name: 'rewind, newest of 50,000 turns', open: openRows, act: rewind(NEWEST, 'turn') },
  { name: 'rewind, turn in the middle', open: openRows, act: rewind(MIDDLE, 'turn') },
  { name: 'rewind, checkpoint in the middle', open: openRows, act: rewind(MIDDLE, 'checkpoint') },
  {
    name: 'branch, 100,000 rows',
    open: nothing,
    act: ({ driver }, scene) => branch(driver, scene, ROWS / 2),
  },
  {
    name: 'begin, TTL and 5,000 sub-agents',
    open: expiring,
    act: (side, { sessionId }) => begin(side.expiring, sessionId, 'newest'),
  },
  {
    name: 'end, TTL and 5,000 sub-agents',
    open: expiringTurn,
    act: (side, scene) => end(side.expiring, scene),
  },
];

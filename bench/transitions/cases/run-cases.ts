import { formatCheckpointId } from '../../../protocol/ids.js';
import { refOf } from '../inputs.js';
import { begin, end, must } from '../moves.js';
import type { Case } from './case.js';

const stop =
  (kind: 'stopping' | 'ended'): Case['act'] =>
  async (driver, { sessionId }) =>
    must(await driver.stop(sessionId, { mode: 'interrupt' }), kind);

/** The step before the newest one: of the same turn. */
const rewindToCheckpoint: Case['act'] = async (driver, scene) => {
  const checkpointId = formatCheckpointId(scene.runId, scene.step - 1);
  const input = { ...refOf(scene), nonce: 'again', checkpointId };
  must(await driver.rewind({ ...input, mode: 'from_checkpoint' }), 'rewound');
};

export const beginCases: Case[] = [
  {
    name: 'begin, new session',
    from: 'none',
    act: (driver, { sessionId }) => begin(driver, sessionId, 'first'),
    isSmallOnly: true,
  },
  {
    name: 'begin, next turn',
    from: 'rested',
    act: (driver, { sessionId }) => begin(driver, sessionId, 'next'),
  },
  {
    name: 'begin queued',
    from: 'queued',
    act: async (driver, scene) =>
      must(await driver.beginQueued({ ...refOf(scene), nonce: 'next' }), 'begun'),
  },
];

export const endCases: Case[] = [
  { name: 'stop, model speaks', from: 'spoken', act: stop('stopping') },
  { name: 'stop, two tools run', from: 'started', act: stop('ended') },
  { name: 'stop, paused', from: 'approval', act: stop('ended') },
  { name: 'end, failed', from: 'spoken', act: (driver, scene) => end(driver, scene) },
];

export const rerunCases: Case[] = [
  {
    name: 'resume run',
    from: 'failed',
    act: async (driver, scene) =>
      must(await driver.resumeRun({ ...refOf(scene), nonce: 'on', mode: 'continue' }), 'resumed'),
  },
  {
    name: 'rewind, newest turn',
    from: 'rested',
    act: async (driver, scene) =>
      must(await driver.rewind({ ...refOf(scene), nonce: 'again', mode: 'retry' }), 'rewound'),
  },
  {
    name: 'rewind, from checkpoint',
    from: 'rested',
    act: rewindToCheckpoint,
  },
];

import { modelOf, question } from '../inputs.js';
import { claim, commit, commitServerCalls, must, say } from '../moves.js';
import type { Case } from './case.js';

/** Withdraws the chunks of the newest attempt after a failure of the provider. */
export const discard: Case['act'] = async (driver, scene) => {
  const failed = { writer: modelOf(scene), failure: 1, reason: 'provider_error' };
  must(await driver.discard({ ...failed, now: Date.now() }), 'discarded');
};

export const stepCases: Case[] = [
  { name: 'claim', from: 'ready', act: (driver, scene) => claim(driver, modelOf(scene)) },
  {
    name: 'claim, takes in two results',
    from: 'settled',
    act: (driver, scene) => claim(driver, modelOf(scene)),
  },
  {
    name: 'claim, over a lost attempt',
    from: 'spoken',
    act: (driver, scene) => claim(driver, modelOf(scene, 2)),
  },
  {
    name: 'append, 1 chunk',
    from: 'claimed',
    act: (driver, scene) => say(driver, modelOf(scene), 1),
  },
  {
    name: 'append, 10 chunks',
    from: 'claimed',
    act: (driver, scene) => say(driver, modelOf(scene), 10),
  },
  {
    name: 'commit, text, ends the run',
    from: 'spoken',
    act: (driver, scene) => commit(driver, scene, []),
  },
  {
    name: 'commit, two server calls',
    from: 'spoken',
    act: (driver, scene) => commitServerCalls(driver, scene, 2),
  },
  {
    name: 'commit, approval: pauses',
    from: 'spoken',
    act: (driver, scene) => commit(driver, scene, [question(scene, 'approval')]),
  },
  {
    name: 'discard',
    from: 'spoken',
    act: discard,
  },
  {
    name: 'take over',
    from: 'spoken',
    act: async (driver, scene) => must(await driver.takeOver(modelOf(scene)), 'taken'),
  },
];

import { messageOf } from '../inputs.js';
import { begin, must } from '../moves.js';
import { openWriter, streamWriter } from '../states.js';
import { branch } from './branch.js';
import type { Case } from './case.js';

const edit: Case['act'] = async (driver, { sessionId }) => {
  const expectedHash = messageOf('u-waits').hash;
  const input = { sessionId, message: messageOf('u-waits', 'And the one before?') };
  must(await driver.editQueued({ ...input, expectedHash, now: Date.now() }), 'edited');
};

const remove: Case['act'] = async (driver, { sessionId }) => {
  const input = { sessionId, messageId: 'u-waits', now: Date.now() };
  must(await driver.removeQueued(input), 'removed');
};

const stage: Case['act'] = (driver, { sessionId }) => {
  const patches = [{ op: 'add' as const, path: '/seen', value: 3 }];
  return driver.stageChanges(sessionId, 's1', { toolCallId: 'call-1', patches });
};

export const queueCases: Case[] = [
  {
    name: 'queue, push',
    from: 'spoken',
    act: (driver, { sessionId }) => begin(driver, sessionId, 'waits', 'queue'),
  },
  {
    name: 'queue, edit',
    from: 'queuing',
    act: edit,
  },
  {
    name: 'queue, remove',
    from: 'queuing',
    act: remove,
  },
];

export const documentCases: Case[] = [
  {
    name: 'save state',
    from: 'claimed',
    act: (driver, { sessionId }) =>
      driver.save(sessionId, { customState: { topic: 'orders', count: 2 }, version: 0 }),
  },
  {
    name: 'stage changes',
    from: 'started',
    act: stage,
  },
];

export const sessionCases: Case[] = [
  {
    name: 'branch, 4 rows',
    from: 'none',
    act: (driver, scene) => branch(driver, scene, 2),
    isSmallOnly: true,
  },
  {
    name: 'note snapshot',
    from: 'claimed',
    act: (driver, { sessionId }) => driver.noteActiveSnapshot(sessionId, 1),
  },
  {
    name: 'erase',
    from: 'rested',
    act: (driver, { sessionId }) => driver.delete(sessionId),
    isWhole: true,
  },
];

/** Of streams without a session, whose entries are all there is to grow. */
export const streamCases: Case[] = [
  {
    name: 'open writer',
    from: 'stream',
    act: (driver, stream) => openWriter(driver, stream, 3),
    isSmallOnly: true,
  },
  {
    name: 'close writer',
    from: 'stream',
    act: async ({ streams }, stream) =>
      must(await streams.closeWriter(streamWriter(stream, 1)), 'closed'),
    isSmallOnly: true,
  },
  {
    name: 'mark, ended',
    from: 'stream',
    act: async ({ streams }, { sessionId }) =>
      must(await streams.mark(sessionId, { status: 'ended' }, Date.now()), 'marked'),
    isSmallOnly: true,
  },
  {
    name: 'truncate, 5 of 10 chunks',
    from: 'stream',
    act: ({ streams }, { sessionId }) => streams.cleanupToStep(sessionId, 1),
    isSmallOnly: true,
  },
];

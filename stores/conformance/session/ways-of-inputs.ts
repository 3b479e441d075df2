import { userMessage } from '../fixtures.js';
import { ask, metadataOf, rowsOf, stateOf, withMetadata, type Way } from './ways-in.js';

/** Ways in which clients and tools give messages and state. */
export function inputWays(): Way[] {
  return [
    {
      name: 'the state that a run begins with',
      code: 'validation_error',
      give: ({ session }, state) => session.begin({ state }),
      read: stateOf,
    },
    {
      name: 'metadata of a message',
      code: 'validation_error',
      give: ({ session }, value) => session.begin({ messages: [withMetadata('u1', value)] }),
      read: async (setup) => metadataOf((await rowsOf(setup))[0]),
    },
    {
      name: 'metadata of a message that waits',
      code: 'validation_error',
      prepare: ({ session }) => session.newRun(),
      give: ({ session }, value) =>
        session.begin({ messages: [withMetadata('u2', value)], policy: 'queue' }),
      read: async ({ store, session }) =>
        metadataOf((await store.queue.read(session.id))[0]?.messages[0]?.row),
    },
    {
      name: 'an edit of a message that waits',
      code: 'validation_error',
      prepare: async ({ session }) => {
        await session.newRun();
        await session.enqueue('u2');
      },
      give: ({ store, session }, value) =>
        store.queue.edit({
          sessionId: session.id,
          message: { ...withMetadata('u2', value), hash: 'other' },
          expectedHash: userMessage('u2').hash,
          now: 1,
        }),
      read: async ({ store, session }) =>
        metadataOf((await store.queue.read(session.id))[0]?.messages[0]?.row),
    },
    {
      name: 'metadata of an edited message',
      code: 'validation_error',
      prepare: (setup) => ask(setup),
      give: ({ session }, value) =>
        session.retry({ messageId: 'u1', messages: [withMetadata('u1b', value)] }),
      read: async (setup) => metadataOf((await rowsOf(setup))[0]),
    },
    {
      name: 'a state that is saved',
      code: 'validation_error',
      prepare: ({ session }) => session.newRun(),
      give: ({ store, session }, customState) =>
        store.documents.save(session.id, { customState, version: 0 }),
      read: stateOf,
    },
    {
      name: 'staged changes',
      code: 'validation_error',
      prepare: ({ session }) => session.newRun(),
      give: ({ store, session }, value) =>
        store.staging.stage(session.id, 's1', {
          toolCallId: 'c',
          patches: [{ op: 'replace', path: '', value }],
        }),
      read: stateOf,
    },
    {
      name: 'staged keys',
      code: 'validation_error',
      prepare: ({ session }) => session.newRun(),
      give: ({ store, session }, mergeChanges) =>
        store.staging.stage(session.id, 's1', { toolCallId: 'c', patches: [], mergeChanges }),
      read: stateOf,
    },
  ];
}

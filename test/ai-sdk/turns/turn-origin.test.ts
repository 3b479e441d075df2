import { findTurnOrigin, isBeyond } from '../../../ai-sdk/turns/turn-origin.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { FakeSession } from '../../support/fake-session.js';

/** A call that tells how far it is, in a step that is stored. */
function openSession(): FakeSession {
  const session = new FakeSession('s1');
  session.begin({ role: 'user', id: 'u1', parts: [{ type: 'text', text: 'go' }] });
  const patches = [{ op: 'add' as const, path: '/a', value: 1 }];
  const speaker = { agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };
  session.append('m1', { type: 'state_patch', patches, ...speaker });
  session.step();
  session.commit([
    { id: 'c1', name: 'progress' },
    { id: 'c2', name: 'progress' },
  ]);
  session.write({ type: 'custom', eventName: 'progress', data: { step: 1 } }, 't:c1');
  session.write({ type: 'custom', eventName: 'progress', data: { step: 1 } }, 't:c2');
  session.settle('c2', { output: 'ok' });
  return session;
}

async function originOf(session: FakeSession): ReturnType<typeof findTurnOrigin> {
  const runtime = createFakeRuntime();
  runtime.sessions.set('s1', session);
  return findTurnOrigin(runtime.streamManager, session.view());
}

describe('where a replay begins', () => {
  it('a replay begins in the log, also when an agent with a state adds its defaults before it speaks', async () => {
    expect(await originOf(openSession())).toEqual({ from: 0 });
  });

  it('a replay begins in the transcript if the beginning is gone, and in the log for events of unfinished calls', async () => {
    const session = openSession();
    session.entries.splice(0, 2);
    const { stored } = await originOf(session);
    const beyond = session.entries.filter(
      (entry) => stored !== undefined && isBeyond(stored, entry),
    );
    expect(beyond.map(({ writer, message }) => [writer, message.type])).toEqual([
      ['t:c1', 'custom'],
    ]);
  });
});

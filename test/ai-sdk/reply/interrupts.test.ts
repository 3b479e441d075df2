import { toUserMessages } from '../../../ai-sdk/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { createFakeRuntime, type FakeRuntime, type Play } from '../../support/fake-runtime.js';
import type { FakeSession } from '../../support/fake-session.js';
import { snapshotOf } from '../../support/snapshot-of.js';
import { ask, user } from './ask.js';

/** Writes on for as long as it is let, unless it is told to end. */
const writing: Play = (session, text) => {
  session.step();
  session.say('Hel');
  if (text === 'end') {
    session.commit();
    session.end();
  }
  return Promise.resolve();
};

const cut: PostedMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [{ type: 'step-start' }, { type: 'text', text: 'Hel', state: 'streaming' }],
};

const sessionOf = (runtime: FakeRuntime): FakeSession => {
  const session = runtime.sessions.get('s1');
  if (session === undefined) throw new Error('there is no session');
  return session;
};

async function begin(runtime: FakeRuntime, ...posted: PostedMessage[]): Promise<void> {
  const messages = toUserMessages(posted);
  await runtime.executor.runs.execute({
    sessionId: 's1',
    agent: 'lab',
    owner: 'anonymous',
    messages,
  });
}

async function say(runtime: FakeRuntime, ...copy: PostedMessage[]): Promise<unknown> {
  const { status } = await ask(runtime, [user('u1'), ...copy, user('u2', 'end')]);
  const { runId } = sessionOf(runtime).record;
  return [status, runId];
}

describe('a message that comes while a reply is written', () => {
  it.each([
    [undefined, [200, 's1:2-abc']],
    ['reject', [409, 's1:1-abc']],
  ] as const)(
    'interrupts a reply that its page cut short: busyPolicy %s',
    async (busyPolicy, is) => {
      const runtime = { ...createFakeRuntime(writing), busyPolicy };
      await begin(runtime, user('u1'));
      expect(await say(runtime, cut)).toEqual(is);
    },
  );

  it('does not interrupt the reply to a message that says the same: a second click on Send', async () => {
    const runtime = createFakeRuntime(writing);
    await begin(runtime, user('u1', 'hello'));
    const { status } = await ask(runtime, [user('u1', 'hello'), cut, user('u2', 'hello')]);
    expect([status, sessionOf(runtime).record.runId]).toEqual([409, 's1:1-abc']);
  });

  it('does not interrupt the run that has begun in the meantime', async () => {
    const runtime = createFakeRuntime(writing);
    await begin(runtime, user('u1'));
    const { execute } = runtime.executor.runs;
    runtime.executor.runs.execute = async (input) => {
      sessionOf(runtime).end();
      runtime.executor.runs.execute = execute;
      await begin(runtime, user('u9'));
      return execute(input);
    };
    expect(await say(runtime, cut)).toEqual([409, 's1:2-abc']);
    expect(sessionOf(runtime).record.stream).toBe('active');
  });

  it.each(['approval', 'client'] as const)(
    'does not interrupt what another client has let go on: %s',
    async (kind) => {
      const runtime = createFakeRuntime(async (session, _text, answers) => {
        session.step();
        session.commit([{ id: 'c1', name: 'pay', kind }]);
        await answers();
      });
      await ask(runtime, [user('u1')]);
      const asked = (await snapshotOf(runtime, 's1'))?.messages.at(-1);
      const base = { sessionId: 's1', toolCallId: 'c1' };
      const answer =
        kind === 'approval'
          ? ({ kind: 'approval-response', approved: true } as const)
          : ({ kind: 'client-tool-result', result: 1 } as const);
      await runtime.executor.runs.submitToolResult({ ...base, ...answer });
      expect(sessionOf(runtime).record.stream).toBe('active');
      const copy = asked as PostedMessage;
      expect(await say(runtime, copy)).toEqual([409, 's1:1-abc']);
      // A page that shows what follows has read on, and then given it up.
      const parts = [...(copy.parts ?? []), ...(cut.parts ?? [])];
      expect(await say(runtime, { ...copy, parts })).toMatchObject([200, 's1:2-abc']);
    },
  );
});

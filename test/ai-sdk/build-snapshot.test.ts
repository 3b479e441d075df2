import { describe, expect, it } from '@jest/globals';
import { buildSnapshot, handleChatStream } from '../../ai-sdk/index.js';
import { createMemoryStores } from '../../stores/memory/index.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { drive, newCall } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { ask, asking, user } from './ask.js';

describe('buildSnapshot', () => {
  it('is null for unknown sessions and for strangers', async () => {
    const runtime = createFakeRuntime(asking);
    await ask(runtime, [user('u1')]);
    expect(await buildSnapshot(runtime, { sessionId: 'other' })).toBeNull();
    const caller = { userId: 'somebody' };
    expect(await buildSnapshot(runtime, { sessionId: 's1', caller })).toBeNull();
  });

  it('shows what a run has so far, if asked to', async () => {
    const runtime = createFakeRuntime((session) => {
      session.step();
      session.say('Half a ');
      session.say('sentence');
      return Promise.resolve();
    });
    const deps = { ...runtime, defaultAgent: 'lab' };
    const running = await handleChatStream(deps, { sessionId: 's1', messages: [user('u1')] });
    await until('the run speaks', () => runtime.sessions.get('s1')?.entries.length === 3);
    const params = { sessionId: 's1', includePartialContent: true };
    const snapshot = await buildSnapshot(runtime, params);
    expect(snapshot?.messages.at(-1)).toMatchObject({
      id: 'msg-1',
      parts: [
        { type: 'step-start' },
        { type: 'text', text: 'Half a sentence', state: 'streaming' },
      ],
    });
    // The same for whoever does not replay turns.
    const off = { ...runtime, contentReplayEnabled: false };
    expect(await buildSnapshot(off, { sessionId: 's1' })).toMatchObject({
      messages: snapshot?.messages,
      streamSequence: 3,
    });
    // What follows its position, and nothing of what such a page has.
    const rest = await handleChatStream(
      { ...deps, contentReplayEnabled: false },
      {
        sessionId: 's1',
        messages: [],
        request: { method: 'GET', headers: new Headers({ 'x-resume-from-sequence': '2' }) },
      },
    );
    const reader = rest.body?.getReader();
    let told = '';
    while (!told.includes('sentence')) {
      told += new TextDecoder().decode((await reader?.read())?.value);
    }
    expect(told).not.toContain('Half');
    await reader?.cancel();
    await running.body?.cancel();
  });

  it('leaves out hidden messages', async () => {
    const runtime = createFakeRuntime((session) => {
      session.end();
      return Promise.resolve();
    });
    await ask(runtime, [{ ...user('h1'), metadata: { hidden: true } }, user('u1')]);
    const snapshot = await buildSnapshot(runtime, { sessionId: 's1' });
    expect(snapshot?.messages.map(({ id }) => id)).toEqual(['u1', 'msg-1']);
  });

  it('is of one moment, also if the run goes on while the state is read', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    const begun = await session.begin({ state: { n: 1 } });
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    const { runId } = begun.run;
    await session.ask(runId, 1, [newCall('c1', 'client')]);
    let answered: Promise<unknown> | undefined;
    const stateStore = {
      ...stores.store,
      documents: {
        ...stores.store.documents,
        readState: async (sessionId: string, at?: 'now' | 'turn') => {
          await (answered ??= session.answer(runId, 'c1', { output: 1 }));
          return stores.store.documents.readState(sessionId, at);
        },
      },
    };
    const { streamManager } = stores;
    const snapshot = await buildSnapshot({ stateStore, streamManager }, { sessionId: session.id });
    expect(snapshot).toMatchObject({ status: 'active', state: { n: 1 }, pending: [] });
  });
});

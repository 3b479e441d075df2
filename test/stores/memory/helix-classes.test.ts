import { LIMITS } from '../../../protocol/limits.js';
import { textChunk } from '../../../stores/conformance/fixtures.js';
import {
  createMemoryData,
  createMemoryStores,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '../../../stores/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';

describe('the classes', () => {
  it('share sessions when one is given the other', async () => {
    const store = new InMemoryStateStore();
    const session = drive({
      store,
      streamManager: new InMemoryStreamManager({ stateStore: store }),
    });
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    expect(await session.say(writer, 1, 'x')).toMatchObject({ kind: 'appended' });
    expect(store).toBeInstanceOf(InMemoryStateStore);
  });

  it('share sessions through their data', async () => {
    const data = createMemoryData();
    const [one, other] = [new InMemoryStateStore({ data }), new InMemoryStateStore({ data })];
    const session = drive({ store: one, streamManager: new InMemoryStreamManager({ data }) });
    const { runId } = await session.newRun();
    await session.ask(runId, 1, []);
    expect(await other.load(session.id)).toEqual(await one.load(session.id));
    expect(await session.messages('stream_end')).toHaveLength(1);
  });

  it('each class is complete alone', async () => {
    const session = drive({
      store: new InMemoryStateStore(),
      streamManager: new InMemoryStreamManager(),
    });
    await session.newRun();
    expect(await session.log()).toEqual([]);

    const streamManager = new InMemoryStreamManager();
    const writer = await streamManager.createWriter('s', 's', 'agent');
    await writer.write(textChunk('x'));
    await streamManager.endStream('s');
    expect(await streamManager.getAllChunks('s')).toHaveLength(1);
    expect(streamManager).toBeInstanceOf(InMemoryStreamManager);
  });

  it('the classes have the Helix names beside the nouns', async () => {
    const store = new InMemoryStateStore();
    const session = drive({
      store,
      streamManager: new InMemoryStreamManager({ stateStore: store }),
    });
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('c', 'client')]);
    await store.stageChanges(session.id, 's1', { toolCallId: 'c', patches: [] });
    expect(await store.discardStaging(session.id, 's1')).toEqual(['c']);
    expect(await store.listRuns(session.id)).toEqual(await store.runs.list(session.id));
    expect(await store.getCurrentRun(session.id)).toEqual(await store.runs.current(session.id));
    expect(await store.getPendingCalls(session.id)).toHaveProperty('c');
    expect(await store.getLatestCheckpoint(session.id)).toMatchObject({ runId });
    await store.delete(session.id);
    expect(await store.sessions.read(session.id)).toBeUndefined();
  });

  it('the classes do not share sessions unless they share a store', async () => {
    const session = drive(createMemoryStores());
    await session.newRun();
    expect(await new InMemoryStateStore().load(session.id)).toBeNull();
  });
});

describe('a large result in memory', () => {
  it('a large result is whole in row and chunk, and no chunk is oversized', async () => {
    const stores = createMemoryStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    await session.ask(runId, 1, [newCall('t', 'server')]);
    await session.start(runId, 1, 't');
    const output = { text: 'ü'.repeat(LIMITS.chunkBytes) };
    expect(await session.finishCall(runId, 1, 't', output)).toMatchObject({ kind: 'stored' });
    expect(await session.messages('tool_end')).toMatchObject([{ result: output }]);
    expect(await stores.store.calls.read(session.id, 't')).toMatchObject({ row: { output } });
  });
});

import { createApi } from '../../../api/index.js';
import { buildSnapshot, ConfigurationError, handleChatStream } from '../../../ai-sdk/index.js';
import { createInProcessExecutor } from '../../../extensions/one-process/index.js';
import { createAgentExecutor } from '../../../runs/index.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { joinParts } from '../../../store/contract/shared-data.js';
import {
  createMemoryData,
  createMemoryStores,
  InMemoryStateStore,
  InMemoryStreamManager,
} from '../../../store/memory/index.js';
import { drive, newCall } from '../../support/session-driver.js';
import { createAgentPlugin } from '../../../worker/index.js';

describe('the classes', () => {
  it('share sessions when one is given the other', async () => {
    const store = new InMemoryStateStore();
    const session = drive({
      store,
      streamManager: new InMemoryStreamManager({ stateStore: store }),
    });
    const { writer } = await session.claimed();
    expect(await session.say(writer, 1, 'x')).toMatchObject({ kind: 'appended' });
    expect(store).toBeInstanceOf(InMemoryStateStore);
  });

  it('share sessions through their data', async () => {
    const data = createMemoryData();
    const [one, other] = [new InMemoryStateStore({ data }), new InMemoryStateStore({ data })];
    const session = drive({ store: one, streamManager: new InMemoryStreamManager({ data }) });
    await session.asked();
    expect(await other.load(session.id)).toEqual(await one.load(session.id));
    expect(await session.messages('stream_end')).toHaveLength(1);
  });

  it('a stream manager without a store joins the one that it is handed over with', async () => {
    const stateStore = new InMemoryStateStore();
    const streamManager = new InMemoryStreamManager();
    joinParts(stateStore, streamManager);
    joinParts(stateStore, streamManager);
    const session = drive({ store: stateStore, streamManager });
    const { writer } = await session.claimed();
    expect(await session.say(writer, 1, 'x')).toMatchObject({ kind: 'appended' });
    // A stream manager belongs to one store.
    expect(() => {
      joinParts(new InMemoryStateStore(), streamManager);
    }).toThrow(ConfigurationError);
  });

  it('parts that work on different data are refused wherever they are handed over', async () => {
    const [one, other] = [createMemoryStores(), createMemoryStores()];
    const used = new InMemoryStreamManager();
    await (await used.createWriter('s', 's', 'agent')).write(textChunk('x'));
    const agent = { name: 'desk' };
    const executor = createInProcessExecutor({ stores: one });
    const { store } = one;
    for (const streamManager of [other.streamManager, used]) {
      const stores = { store, streamManager };
      const deps = { executor, stateStore: store, streamManager, agent };
      const chat = { sessionId: 's', messages: [] };
      expect(() => createInProcessExecutor({ stores })).toThrow(ConfigurationError);
      expect(() => createApi({ executor, stores, agents: [], allowUnauthenticated: true })).toThrow(
        ConfigurationError,
      );
      expect(() => createAgentPlugin({ agents: [], stores })).toThrow(ConfigurationError);
      await expect(handleChatStream(deps, chat)).rejects.toBeInstanceOf(ConfigurationError);
      await expect(buildSnapshot(deps, chat)).rejects.toBeInstanceOf(ConfigurationError);
    }
    // The two parts match each other, but the executor works on other data.
    const elsewhere = {
      executor,
      stateStore: other.store,
      streamManager: other.streamManager,
      agent,
    };
    const asked = handleChatStream(elsewhere, { sessionId: 's', messages: [] });
    await expect(asked).rejects.toThrow('do not belong together');
    await executor.close();
  });

  it('a store that lacks what its contract demands is refused by name wherever it is handed over', async () => {
    const { store, streamManager } = createMemoryStores();
    const executor = createInProcessExecutor({ stores: { store, streamManager } });
    const hosts: ((stores: never) => unknown)[] = [
      (stores) => createInProcessExecutor({ stores }),
      (stores) => createApi({ executor, stores, agents: [], allowUnauthenticated: true }),
      (stores) => createAgentPlugin({ agents: [], stores }),
      (stores) => createAgentExecutor({ agents: [], stores, client: {} as never }),
    ];
    const refused = async (host: (stores: never) => unknown, lacking: object): Promise<string> => {
      const error: unknown = await Promise.resolve(lacking as never)
        .then(host)
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConfigurationError);
      return (error as ConfigurationError).message;
    };
    for (const host of hosts) {
      const partial = { ...store, requests: undefined, files: undefined };
      expect(await refused(host, { store: partial, streamManager })).toContain(
        'The store has no requests, files.',
      );
    }
    for (const host of hosts.filter((_, at) => at !== 1)) {
      const partial = { ...store, pauses: undefined };
      expect(await refused(host, { store: partial, streamManager })).toContain('no pauses');
      const unkept = { ...streamManager, keptPages: undefined };
      expect(await refused(host, { store, streamManager: unkept })).toContain(
        'The stream manager has no keptPages.',
      );
    }
    await executor.close();
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
    const { runId } = await session.asked(newCall('c', 'client'));
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

import { createMemoryStores } from '../../../store/memory/index.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { drive, newCall, userMessage } from '../../support/session-driver.js';

/** Modifies every reachable object and array. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  if (Array.isArray(value)) value.push('spoilt');
  else Object.assign(value, { spoilt: true, type: 'spoilt', text: 'spoilt' });
}

async function sessionWithCalls() {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId } = await session.asked(newCall('a', 'approval'), newCall('b', 'approval'));
  await session.decide(runId, 'a', true);
  await session.decide(runId, 'b', false);
  await session.start(runId, 1, 'a');
  return { ...stores, session, runId };
}

describe('what memory stores', () => {
  it('a stored value does not change with the object that was passed', async () => {
    const { store, streamManager } = createMemoryStores();
    const session = drive({ store, streamManager });
    const message = userMessage('u1');
    await session.begin({ messages: [message] });
    const { runId } = (await store.sessions.read(session.id)) ?? { runId: '' };
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const chunk = textChunk('text');
    await streamManager.append(writer, 1, [chunk]);
    const call = newCall('c', 'client');
    await session.commit(writer, { calls: [call] });
    const customState = { list: [1] };
    await store.documents.save(session.id, { customState, version: 0 });
    const before = [await store.documents.load(session.id), await session.log()];

    for (const given of [message, chunk, call, customState]) spoil(given);

    expect([await store.documents.load(session.id), await session.log()]).toEqual(before);
  });

  it('a stored value does not change with the object that was returned', async () => {
    const { store, session, runId } = await sessionWithCalls();
    await store.documents.save(session.id, { customState: { list: [1] }, version: 0 });
    await store.staging.stage(session.id, 's1', {
      toolCallId: 'a',
      patches: [{ op: 'add', path: '/k', value: { deep: true } }],
    });
    const everything = () =>
      Promise.all([
        store.documents.load(session.id),
        store.sessions.view(session.id),
        store.sessions.rows(session.id, 0),
        store.calls.read(session.id, 'a'),
        store.runs.list(session.id),
        store.checkpoints.list(session.id),
        store.calls.pending(session.id),
        session.start(runId, 1, 'a'),
        session.log(),
      ]);
    const before = await everything();

    spoil(await everything());

    expect(await everything()).toEqual(before);
    expect(await store.staging.promote(session.id, 's1')).toMatchObject({
      customState: { list: [1], k: { deep: true } },
    });
  });

  it('each follower gets entries of its own', async () => {
    const { streamManager } = createMemoryStores();
    const writer = await streamManager.createWriter('s', 's', 'agent');
    await writer.write(textChunk('x'));
    const abort = new AbortController();
    for (let n = 0; n < 2; n += 1) {
      for await (const [entry] of streamManager.follow('s', 0, abort.signal)) {
        expect(entry?.message).toMatchObject({ delta: 'x' });
        spoil(entry);
        break;
      }
    }
  });
});

import { startFollower } from '../../support/follower.js';
import {
  drive,
  newCall,
  textIn,
  userMessage,
  type SessionDriver,
} from '../../support/session-driver.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';

let stores: TestStores;
let session: SessionDriver;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => {
  session = drive(stores);
});

/** Deletes a key of the session, as an eviction or a hand does. */
async function lose(key: string): Promise<void> {
  expect(await stores.redis.del(`hx:{${session.id}}:${key}`)).toBe(1);
}

describe('a conversation that has lost one of its keys', () => {
  it.each(['rows', 'writers'])('no model answers without %s: the run is lost', async (key) => {
    const { runId } = await session.claimed();
    await lose(key);
    expect(await session.claim(session.writer(runId, 1, 2))).toEqual({ kind: 'rewound' });
    expect(await session.end(runId, 'failed')).toMatchObject({ kind: 'ended' });
    const next = await session.newRun('u2');
    const writer = session.writer(next.runId, 1, 1);
    expect(await session.claim(writer)).toMatchObject({ kind: 'claimed' });
  });

  it('a reply is not stored without the messages before it', async () => {
    const { writer } = await session.claimed();
    await lose('rows');
    expect(await session.commit(writer)).toEqual({ kind: 'rewound' });
  });

  it('who follows a conversation whose record is lost is told so', async () => {
    const { writer } = await session.claimed();
    await session.say(writer, 1, 'first');
    await lose('root');
    const { ended } = startFollower(stores.streamManager, session.id, 1);
    await expect(ended).rejects.toMatchObject({ code: 'rewound' });
  });

  it('nothing is written behind a part of a reply that is gone', async () => {
    const { writer } = await session.claimed();
    await session.say(writer, 1, 'first');
    await lose('stream');
    expect(await session.say(writer, 2, 'second')).toEqual({ kind: 'rewound' });
    expect(await session.log()).toEqual([]);
  });

  it('a message whose row is gone is not accepted twice', async () => {
    await session.end((await session.newRun('u1')).runId, 'completed');
    await lose('rows');
    expect(await session.begin()).toEqual({ kind: 'accepted' });
  });

  it('a call without its input is not carried out, and one without its result has an error', async () => {
    const { runId } = await session.asked(newCall('done', 'server'), newCall('open', 'server'));
    await session.carryOut(runId, 1, 'done', 1);
    await lose('content');
    expect(await session.start(runId, 1, 'open')).toEqual({ kind: 'settled' });
    await session.ask(runId, 2, []);
    expect(await session.rows(2, 4)).toMatchObject([
      { toolCallId: 'done', errorCode: 'tool_result_lost' },
      { toolCallId: 'open', errorCode: 'tool_call_lost' },
    ]);
  });

  it('who begins under the id of a lost record gets nothing of what is left', async () => {
    const { runId } = await session.asked(newCall('a', 'approval'));
    await session.decide(runId, 'a', false);
    await stores.redis.xadd(`hx:{${session.id}}:joined`, '500-0', 'from', '1', 'entries', '[]');
    await stores.redis.hset(`hx:{${session.id}}:results`, 'a', '"large"');
    await lose('root');
    const { kind } = await session.begin({ owner: 'eve', messages: [userMessage('u1', 'mine')] });
    expect(kind).toBe('begun');
    expect(await session.view()).toMatchObject({ openCalls: [], rows: [{ id: 'u1' }] });
    const left = ['joined', 'results'].map((key) => `hx:{${session.id}}:${key}`);
    expect(await stores.redis.exists(left)).toBe(0);
    const writer = session.writer((await session.record())?.runId ?? '', 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'only this');
    expect(textIn(await session.log())).toBe('only this');
  });
});

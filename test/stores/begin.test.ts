import { describe, expect, it } from '@jest/globals';
import { drive, newCall, newNonce, userMessage } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe.each(['worker', 'api'] as const)('begin, on a connection of the %s', (role) => {
  it('makes a session, its run and the id of the reply', async () => {
    const stores = await openTestStores(role);
    const session = drive(stores);
    const result = await session.begin({ tenant: 'acme', nonce: 'abc' });

    expect(result).toMatchObject({
      kind: 'begun',
      run: { runId: `${session.id}:1-abc`, turn: 1, messageId: 'msg-1', startSequence: 0 },
    });
    expect(await stores.store.readRecord(session.id)).toMatchObject({
      agent: 'tester',
      owner: 'ann',
      tenant: 'acme',
      status: 'starting',
      stream: 'active',
    });
    expect(await stores.store.readRows(session.id, 0)).toEqual([userMessage('u1').row]);
  });
});

describe('begin', () => {
  it('accepts a message once, also while its run goes on and after it has ended', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const run = await session.newRun('u1');

    expect(await session.begin()).toEqual({ kind: 'accepted' });
    const writer = session.writer(run.runId, 1, 1);
    await session.claim(writer);
    await session.commit(writer);
    expect(await session.begin()).toEqual({ kind: 'accepted' });
    expect(await stores.store.readRows(session.id, 0)).toHaveLength(2);
    expect(await stores.store.acceptedMessages(session.id, ['u1', 'u2'])).toEqual(['u1']);
  });

  it('refuses an accepted id with other content', async () => {
    const session = drive(await openTestStores());
    await session.newRun('u1');
    const other = { ...userMessage('u1'), hash: 'changed' };
    expect(await session.begin({ messages: [other] })).toEqual({
      kind: 'conflict',
      messageId: 'u1',
    });
  });

  it('refuses a new message while a run is at work', async () => {
    const session = drive(await openTestStores());
    await session.newRun('u1');
    expect(await session.begin({ messages: [userMessage('u2')] })).toEqual({ kind: 'busy' });
  });

  it('refuses another owner, another tenant and another agent', async () => {
    const session = drive(await openTestStores());
    await session.begin({ tenant: 'acme' });
    expect(await session.begin({ tenant: 'acme', owner: 'eve' })).toEqual({ kind: 'foreign' });
    expect(await session.begin({ tenant: 'other' })).toEqual({ kind: 'foreign' });
    expect(await session.begin()).toEqual({ kind: 'foreign' });
    expect(await session.begin({ tenant: 'acme', agent: 'x' })).toEqual({
      kind: 'agent_mismatch',
      agent: 'tester',
    });
  });

  it('lets exactly one of two posts at the same moment make a run', async () => {
    const [one, two] = [await openTestStores('api'), await openTestStores('api')];
    const session = drive(one);
    const other = drive(two, session.id);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 === 0 ? session : other).begin({ messages: [userMessage(`u${String(n)}`)] }),
      ),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual([
      'begun',
      ...Array.from({ length: 9 }, () => 'busy'),
    ]);
    expect(await one.store.readRows(session.id, 0)).toHaveLength(1);
  });

  it('lets the same message posted twice at the same moment make one run', async () => {
    const session = drive(await openTestStores('api'));
    const results = await Promise.all([session.begin(), session.begin()]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['accepted', 'begun']);
  });

  it('numbers replies by the visible messages before them', async () => {
    const session = drive(await openTestStores());
    const ids: string[] = [];
    for (const turn of [1, 2, 3]) {
      const run = await session.newRun();
      ids.push(run.messageId);
      expect(run.turn).toBe(turn);
      for (const step of [1, 2]) {
        const writer = session.writer(run.runId, step, step);
        await session.claim(writer);
        await session.commit(
          writer,
          step === 1
            ? {
                calls: [
                  newCall(`c${run.runId}`, 'server', {
                    row: { role: 'tool', toolCallId: 'c', toolName: 't', error: 'x' },
                  }),
                ],
              }
            : {},
        );
      }
    }
    expect(ids).toEqual(['msg-1', 'msg-3', 'msg-5']);
  });

  it('counts a turn without a reply and a hidden message as what is seen of them', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const silent = await session.newRun();
    await stores.store.stop(session.id, { mode: 'interrupt', runId: silent.runId });
    const hidden = { ...userMessage('h'), hidden: true };
    const next = await session.begin({ messages: [hidden, userMessage('u2')] });
    expect(next).toMatchObject({ run: { messageId: 'msg-2' } });
  });

  it('clears what belonged to the run before', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const run = await session.newRun();
    await stores.store.end({
      sessionId: session.id,
      runId: run.runId,
      agentType: 'tester',
      step: 0,
      status: 'failed',
      error: { code: 'x', message: 'y', retryable: false },
      now: 1,
    });
    expect((await stores.store.readRecord(session.id))?.error).toBeDefined();
    await session.newRun();
    const record = await stores.store.readRecord(session.id);
    expect(record?.error).toBeUndefined();
    expect(record).toMatchObject({ committedStep: 0, claimedStep: 0, status: 'starting' });
  });
});

describe('begin while an approval waits', () => {
  it('settles it as abandoned: one tool row, before the new message', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun('u1');
    await session.ask(runId, 1, [newCall('a', 'approval'), newCall('b', 'approval')]);
    await session.decide(runId, 'a', false);
    const next = await session.begin({ messages: [userMessage('u2')], nonce: newNonce() });

    expect(next).toMatchObject({
      kind: 'begun',
      run: { turn: 2, messageId: 'msg-3', supersededRunId: runId },
    });
    const rows = await stores.store.readRows(session.id, 0);
    expect(rows.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(rows[2]).toMatchObject({ toolCallId: 'a', denied: true });
    expect(rows[3]).toMatchObject({ toolCallId: 'b', errorCode: 'client_tool_abandoned' });
    expect(await session.messages('stream_end')).toMatchObject([{ status: 'interrupted' }]);
    expect(await session.decide(runId, 'b', true)).toEqual({ kind: 'already_completed' });
  });

  it('is refused while a tool of the same step still runs', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun('u1');
    await session.ask(runId, 1, [newCall('a', 'approval'), newCall('s', 'server')]);
    expect(await session.begin({ messages: [userMessage('u2')] })).toEqual({ kind: 'busy' });
    await session.start(runId, 1, 's');
    await session.finishCall(runId, 1, 's', 1);
    expect(await session.begin({ messages: [userMessage('u2')] })).toMatchObject({
      kind: 'begun',
    });
  });

  it('leaves the old run without a voice', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun('u1');
    await session.ask(runId, 1, [newCall('a', 'approval')]);
    await session.newRun('u2');
    const old = session.writer(runId, 2, 99);
    expect(await session.claim(old)).toEqual({ kind: 'superseded' });
    expect(await session.say(old, 1, 'x')).toEqual({ kind: 'superseded' });
    expect(await session.commit(old)).toEqual({ kind: 'superseded' });
    expect(await session.start(runId, 1, 'new')).toEqual({ kind: 'superseded' });
  });
});

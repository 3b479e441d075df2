import { formatCheckpointId, formatFileUrl } from '../../protocol/ids.js';
import type { AssistantRow, Row, UserRow } from '../../protocol/rows.js';
import { approval, assistantRow, server } from '../../store/conformance/fixtures.js';
import {
  conclude,
  playTurn,
  runOf,
  takeStep,
} from '../../store/conformance/session/played-turns.js';
import { childAt, grow, heldCall, settleChild } from '../../store/conformance/tree.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createIdleRuns } from '../support/idle-workflows.js';
import { AGENT, changing, drive, newSessionId as newId } from '../support/session-driver.js';

function open() {
  const stores = createMemoryStores();
  const runs = createIdleRuns(stores);
  const session = drive(stores);
  /** Copies the conversation, and returns the driver of the copy. */
  const copy = async (how: { checkpointId?: string; messageIndex?: number } = {}) => {
    const { sessionId } = await runs.branch({ sessionId: session.id, by: 'bob', ...how });
    return drive(stores, sessionId);
  };
  /** Forks a run, and returns the roles of the copied rows. */
  const forked = async (runId: string, step: number): Promise<string> => {
    const newSessionId = newId();
    await runs.fork({ sessionId: session.id, newSessionId, runId, step });
    return rolesOf(await stores.store.sessions.rows(newSessionId, 0));
  };
  return { ...stores, runs, session, setup: { ...stores, session }, copy, forked };
}

const rolesOf = (rows: Row[]): string => rows.map(({ role }) => role).join(' ');

describe('the copy of a conversation', () => {
  const user = (id: string, more: Partial<UserRow> = {}): UserRow => ({
    role: 'user',
    id,
    parts: [{ type: 'text', text: id }],
    ...more,
  });
  const step = (messageId: string, n: number, row: Partial<AssistantRow> = {}): Row => {
    const by = { sessionId: 's', runId: 's:1-x', name: '', token: 1, agentType: 'a', step: n };
    return { ...assistantRow(by, n === 1 ? [server('c1')] : []), messageId, ...row };
  };
  const result: Row = { role: 'tool', toolCallId: 'c1', toolName: 'server-tool', output: 1 };
  const search = { toolCallId: 'p', toolName: 'search', input: {}, kind: 'provider' } as const;
  const sought = step('second', 1, { parts: [{ type: 'tool-call', ...search }] });
  const ROWS = [
    user('u1'),
    step('first', 1),
    result,
    step('first', 2),
    user('note', { hidden: true }),
    user('u2'),
    sought,
  ];

  it.each<[messageIndex: number, rows: number, of: object]>([
    [0, 1, { turn: 1, messageId: 'msg-1', committedStep: 0 }],
    [1, 4, { turn: 1, messageId: 'first', committedStep: 2 }],
    [2, 6, { turn: 2, messageId: 'msg-3', committedStep: 0 }],
    [3, 7, { turn: 2, messageId: 'second', committedStep: 1 }],
  ])('up to visible message %j has %j rows', async (messageIndex, count, of) => {
    const { runs, session, copy } = open();
    await runs.adopt({ sessionId: session.id, agent: AGENT, owner: 'ann', rows: ROWS });
    const copied = await copy({ messageIndex });
    expect(await copied.rows()).toEqual(await session.rows(0, count));
    expect(await copied.record()).toMatchObject({ ...of, status: 'completed' });
    expect(await copied.newRun('u9')).toMatchObject({
      messageId: `msg-${String(messageIndex + 2)}`,
    });
    await expect(copy({ messageIndex: 4 })).rejects.toMatchObject({ code: 'message_not_found' });
  });

  it('has the state with which the step behind it began, however many follow', async () => {
    const { session, copy, store } = open();
    const run = await session.newRun();
    const COUNT = 105;
    for (let n = 1; n <= COUNT; n += 1) {
      await takeStep(session, run, n);
      await session.save({ n }, n - 1);
    }
    await conclude(session, run, COUNT + 1);
    await session.save({ n: 'since' }, COUNT);
    await playTurn(session, 'u2');
    await session.save({ n: 'last' }, COUNT + 1);
    const stateOf = async (how: Parameters<typeof copy>[0]) =>
      (await store.documents.readState((await copy(how)).id)).customState['n'];
    expect(await stateOf({ checkpointId: formatCheckpointId(run.runId, 2) })).toBe(2);
    expect(await stateOf({ messageIndex: 1 })).toBe('since');
    expect(await stateOf({})).toBe('last');
  });

  it('leaves out a step whose calls have no results yet', async () => {
    const { session, copy } = open();
    const { runId } = await session.asked(server('c1'), approval('a1'));
    await session.carryOut(runId, 1, 'c1', 'ok');
    expect(rolesOf(await (await copy()).rows())).toBe('user');
  });

  it('leaves out a step whose sub-agent works on after its question was answered', async () => {
    const { session, setup, copy, forked } = open();
    const tree = await grow(setup, 1, () => []);
    const { driver, ref } = childAt(tree, 0);
    await driver.ask(ref.runId, 1, [heldCall(ref.runId, 'a')]);
    await driver.decide(ref.runId, 'a', true);
    await driver.carryOut(ref.runId, 1, 'a', 'ok');
    await driver.claim(driver.writer(ref.runId, 2, 1));
    expect(rolesOf(await session.rows())).toBe('user assistant assistant tool');
    const checkpointId = formatCheckpointId(tree.runId, 1);
    for (const how of [{}, { checkpointId }])
      expect(rolesOf(await (await copy(how)).rows())).toBe('user');
    await expect(forked(tree.runId, 1)).rejects.toMatchObject({ code: 'not_resumable' });

    await driver.commit(driver.writer(ref.runId, 2, 1));
    await settleChild(setup, session, tree.runId, 'd1');
    await session.claim(session.writer(tree.runId, 2, 1));
    const whole = 'user assistant assistant tool tool';
    expect(rolesOf(await (await copy({ checkpointId })).rows())).toBe(whole);
    expect(await forked(tree.runId, 1)).toBe(whole);
  });

  it('is in the audit trail of its tenant, with the conversation that it is of', async () => {
    const { store, session, copy } = open();
    const { runId } = await session.newRun({ tenant: 'acme' });
    await session.end(runId, 'completed');
    const { id } = await copy();
    await store.audit.relay(id);
    const { entries } = await store.audit.page('acme', { limit: 9 });
    expect(entries).toMatchObject([
      { name: 'bob', entry: { action: 'branch', detail: { from: session.id } } },
    ]);
  });

  it.each([
    ['is taken', true],
    ['is taken meanwhile', false],
  ])('leaves no file under an id that %s', async (_, isTakenBefore) => {
    const { store, streamManager, runs, session } = open();
    const content = Buffer.from('x');
    const whose = { sessionId: session.id, owner: 'ann', mediaType: 'text/plain' };
    const { id, mediaType } = await runs.uploads.upload({ ...whose, content });
    const url = formatFileUrl({ sessionId: session.id, fileId: id });
    const row: Row = { role: 'user', id: 'u1', parts: [{ type: 'file', url, mediaType }] };
    await runs.adopt({ sessionId: session.id, agent: AGENT, owner: 'ann', rows: [row] });
    const taken = drive({ store, streamManager });
    if (isTakenBefore) await taken.newRun();
    const racing = changing(store, (changes) => {
      const branch: typeof changes.sessions.branch = async (input) => {
        if (!isTakenBefore) await taken.newRun();
        return changes.sessions.branch(input);
      };
      return { ...changes, sessions: { ...changes.sessions, branch } };
    });
    const add = jest.spyOn(store.files, 'add');
    const copied = createIdleRuns({ store: racing, streamManager }).branch({
      sessionId: session.id,
      newSessionId: taken.id,
    });
    await expect(copied).rejects.toMatchObject({ code: 'session_exists' });
    expect(add).toHaveBeenCalledTimes(isTakenBefore ? 0 : 1);
    expect(await store.files.list(taken.id)).toEqual([]);
  });
});

describe('a fork', () => {
  const STEP = 'assistant tool';

  it('of a run has no row of a later turn, and at step 0 all that were before its first step', async () => {
    const { session, forked } = open();
    const empty = await session.newRun('u1');
    await session.stop();
    const first = await playTurn(session, 'u2');
    const second = await playTurn(session, 'u3');
    const begun = await forked(empty.runId, 0);
    expect(begun).toBe('user assistant');
    expect(await forked(first.runId, 1)).toBe(`${begun} user ${STEP}`);
    expect(await forked(second.runId, 0)).toBe(`${begun} user ${STEP} ${STEP} assistant user`);
    const { runId } = await session.newRun('u4');
    const unknown = { code: 'checkpoint_not_found' };
    await expect(forked(runId, 2)).rejects.toMatchObject(unknown);
  });

  it('of a run whose turn another run went on with has its steps, unless the turn is complete', async () => {
    const { session, forked } = open();
    const first = await session.newRun();
    await takeStep(session, first, 1);
    await session.stop();
    const goOn = async () => {
      const resumed = await session.resume();
      if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
      return resumed.run;
    };
    await takeStep(session, await goOn(), 2);
    await session.stop();
    expect(await forked(first.runId, 2)).toBe(`user ${STEP} ${STEP}`);
    const last = await goOn();
    await conclude(session, last, 3);
    for (const { runId } of [first, last])
      await expect(forked(runId, 3)).rejects.toMatchObject({ code: 'nothing_to_do' });
  });

  it('of a run that was steered has its steps from before that, too', async () => {
    const { session, forked } = open();
    const run = await session.newRun('u1');
    await takeStep(session, run, 1);
    await session.steer('u2');
    await takeStep(session, { ...run, messageId: 'msg-3', turn: 2 }, 2);
    await session.stop();
    expect(await forked(run.runId, 2)).toBe(`user ${STEP} user ${STEP}`);
    expect(await forked(run.runId, 1)).toBe(`user ${STEP}`);
    expect(await forked(run.runId, 0)).toBe(`user ${STEP} user`);
  });

  it('passes over runs that the conversation no longer has', async () => {
    const { session, forked } = open();
    const first = await session.newRun();
    await takeStep(session, first, 1);
    await takeStep(session, first, 2);
    await session.stop();
    const later = await playTurn(session, 'u2');
    const back = formatCheckpointId(first.runId, 1);
    const again = { ...first, runId: runOf(await session.rewindTo(back)) };
    for (const step of [2, 3, 4]) await takeStep(session, again, step);
    await session.stop();
    expect(await forked(again.runId, 4)).toBe(`user ${STEP} ${STEP} ${STEP} ${STEP}`);
    await expect(forked(later.runId, 0)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of a turn that is repeated may have its last step, though the repeated run was complete', async () => {
    const { session, forked } = open();
    await playTurn(session, 'u1');
    const again = await session.retry();
    if (again.kind !== 'rewound') throw new Error(again.kind);
    await takeStep(session, again.run, 1);
    await session.stop();
    expect(await forked(again.run.runId, 1)).toBe(`user ${STEP}`);
  });
});

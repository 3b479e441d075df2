import { toNotifySettings } from '../../../extensions/notify/settings.js';
import type { AskedCall, Notice, WaitLook, WaitOver } from '../../../protocol/notices.js';
import type { ToolRow } from '../../../protocol/rows.js';
import type { OpenCall } from '../../../store/contract/call-record.js';
import type { SessionCalls } from '../../../store/contract/sessions.js';
import { createAnnounce, lookAtSchedule, outcomeOf } from '../../../extensions/notify/announce.js';
import { toNoticeId } from '../../../runs/deliveries.js';

const LOOK: WaitLook = { sessionId: 's', runId: 's:1-a', agent: 'desk', step: 1 };
const settings = (remindAfterMs?: number[]) =>
  toNotifySettings({
    ...(remindAfterMs && { remindAfterMs }),
    receivers: [
      {
        name: 'hook',
        kind: 'webhook',
        url: 'https://example.com',
        secrets: [`whsec_${'a'.repeat(32)}`],
      },
    ],
  });

function approval(toolCallId: string, rest: Partial<OpenCall> = {}): OpenCall {
  const { runId, step } = LOOK;
  const spec = { toolCallId, toolName: 'charge', kind: 'approval' as const, input: {} };
  return { spec: { ...spec, runId, step }, state: 'waiting', askedAt: 1, ...rest };
}

/** Announces the notices of a record that the test changes. */
function announcing(remindAfterMs?: number[]) {
  const notices: Notice[] = [];
  const record = { runId: LOOK.runId, tenant: 'acme', owner: 'ann' } as SessionCalls['record'];
  const state: { calls: OpenCall[] | undefined } = { calls: [] };
  const announce = createAnnounce({
    store: {
      sessions: {
        withCalls: async () => state.calls && { record, openCalls: state.calls },
        read: async () => state.calls && record,
      },
    } as unknown as Parameters<typeof createAnnounce>[0]['store'],
    deliveries: {
      notify: { calls: ['approval', 'client'], ends: ['aborted'] },
      announce: async (notice, owner) => {
        expect(owner).toBe('ann');
        notices.push(notice);
      },
    },
    settings: settings(remindAfterMs),
  });
  const taken = (): string[] =>
    notices
      .splice(0)
      .map(({ type, toolCallId, calls, outcome, tenant, code }) =>
        [type, calls?.map((each) => each.toolCallId).join('+') ?? toolCallId, outcome, tenant, code]
          .filter((each) => each !== undefined)
          .join(' '),
      );
  return { announce, state, record, notices, taken };
}

it('of several questions one that expires is notified while the others wait', async () => {
  const { announce, state, notices, taken } = announcing();
  const deadline = Date.now() + 60_000;
  const ofSubAgent = approval('c');
  ofSubAgent.spec.runId = 's.1-sub:1-a';
  state.calls = [approval('a', { deadline }), approval('b'), ofSubAgent];
  const first = await announce.wait(LOOK);
  // Another id would deliver a notice again.
  expect(notices).toMatchObject([
    {
      id: toNoticeId('s:1-a a b approval.requested '),
      deadline,
      calls: [{ toolCallId: 'a', deadline }, { toolCallId: 'b' }],
    },
  ]);
  expect(taken()).toEqual(['approval.requested a+b acme']);
  const decision = { approved: false, at: 1, automatic: true };
  state.calls = [approval('a', { state: 'settled', decision }), approval('b')];
  const second = await announce.wait({ ...LOOK, ...first });
  expect(taken()).toEqual(['approval.expired a expired acme']);
  expect(second?.progress.calls.map(({ toolCallId }) => toolCallId)).toEqual(['b']);
  // The next wait's workflow notifies of its call.
  state.calls = [approval('d')];
  await announce.wait({ ...LOOK, ...second, over: { approved: ['b'], at: Date.now() } });
  expect(taken()).toEqual(['approval.settled b approved acme']);
});

it('a question that is answered before its reminder sends none, also if the answer is not signalled', async () => {
  const { announce, state, taken } = announcing();
  state.calls = [approval('a')];
  const first = await announce.wait(LOOK);
  expect(taken()).toEqual(['approval.requested a acme']);
  const askedAt = Date.now() - 2 * 86_400_000;
  const calls = first?.progress.calls.map((call) => ({ ...call, askedAt })) ?? [];
  const later = { ...LOOK, progress: { calls } };
  state.calls = [approval('a', { state: 'approved', decision: { approved: true, at: 1 } })];
  for (const over of [undefined, { approved: ['a'], at: Date.now() }]) {
    expect(await announce.wait({ ...later, ...(over && { over }) })).toBeUndefined();
    expect(taken()).toEqual(['approval.settled a approved acme']);
  }
});

it('each reminder of a question is a notice of its own', async () => {
  const { announce, state, notices } = announcing([60_000, 120_000]);
  state.calls = [approval('a')];
  let look: WaitLook = { ...LOOK, ...(await announce.wait(LOOK)) };
  for (const minutes of [1, 2, 2]) {
    const askedAt = Date.now() - minutes * 60_000;
    const calls = look.progress?.calls.map((call) => ({ ...call, askedAt })) ?? [];
    look = { ...LOOK, ...(await announce.wait({ ...look, progress: { calls } })) };
  }
  const reminder = 'approval.reminder';
  expect(notices.map(({ type }) => type)).toEqual(['approval.requested', reminder, reminder]);
  expect(new Set(notices.map(({ id }) => id)).size).toBe(3);
});

it('no escalation is announced where no receiver is there for those, but that a deadline is near', async () => {
  const { announce, state, taken } = announcing([]);
  state.calls = [approval('a')];
  const first = await announce.wait(LOOK);
  taken();
  const askedAt = Date.now() - 86_400_000;
  const calls = first?.progress.calls.map((call) => ({ ...call, askedAt })) ?? [];
  await announce.wait({ ...LOOK, progress: { calls } });
  expect(taken()).toEqual([]);
  state.calls = [approval('a', { deadline: Date.now() + 10 * MINUTE })];
  await announce.wait({ ...LOOK, progress: { calls } });
  expect(taken()).toEqual(['approval.reminder a acme']);
});

it('reminders of different times are notices of their own, although they are due at once', async () => {
  const { announce, state, taken } = announcing([60_000, 120_000]);
  state.calls = [approval('a'), approval('b')];
  const first = await announce.wait(LOOK);
  taken();
  const ages = [130_000, 70_000];
  const calls = first?.progress.calls.map((call, nth) => ({
    ...call,
    askedAt: Date.now() - (ages[nth] ?? 0),
  }));
  await announce.wait({ ...LOOK, progress: { calls: calls ?? [] } });
  expect(taken()).toEqual(['approval.reminder a acme', 'approval.reminder b acme']);
});

it('reminders of one time are one notice, as of the call that has waited longest', async () => {
  const { announce, state, notices } = announcing([60_000]);
  state.calls = [approval('a'), approval('b')];
  const first = await announce.wait(LOOK);
  const [late = 0, early = 0] = [70_000, 130_000].map((ms) => Date.now() - ms);
  const calls = first?.progress.calls.map((call, nth) => ({
    ...call,
    askedAt: [late, early][nth],
  }));
  await announce.wait({ ...LOOK, progress: { calls: calls ?? [] } });
  expect(notices[1]).toMatchObject({ at: early + 60_000, calls: { length: 2 } });
});

it('the end of a lost run is announced once it is recorded, as what it was', async () => {
  const { announce, state, record, notices, taken } = announcing();
  state.calls = [];
  const lost = { ...LOOK, status: 'failed', code: 'framework_run_lost' } as const;
  record.status = 'running';
  await expect(announce.end(lost)).rejects.toThrow('has not ended');
  record.status = 'completed';
  await announce.end(lost);
  expect(notices).toMatchObject([{ id: toNoticeId('s:1-a run.completed') }]);
  expect(taken()).toEqual(['run.completed acme']);
  record.status = 'failed';
  await announce.end(lost);
  expect(taken()).toEqual(['run.failed acme framework_run_lost']);
  // Another run of the conversation has begun meanwhile.
  Object.assign(record, { runId: 's:2-b', status: 'running' });
  await announce.end(lost);
  expect(taken()).toEqual(['run.failed acme framework_run_lost']);
});

it('an erased conversation has no further notices', async () => {
  const { announce, state, taken } = announcing();
  state.calls = [approval('a')];
  const first = await announce.wait(LOOK);
  taken();
  state.calls = undefined;
  expect(await announce.wait({ ...LOOK, ...first })).toBeUndefined();
  await announce.end({ ...LOOK, status: 'aborted' });
  expect(taken()).toEqual([]);
});

it('each question has its own clock, and one that is asked later is notified at once', async () => {
  const { announce, state, taken } = announcing();
  state.calls = [approval('a'), approval('b', { held: true })];
  const first = await announce.wait(LOOK);
  expect(taken()).toEqual(['approval.requested a acme']);
  // The workflow looks less and less often at a call about which no person has been asked yet.
  const second = await announce.wait({ ...LOOK, ...first });
  expect([first?.againMs, second?.againMs]).toEqual([1_000, 2_000]);
  const late = { ...LOOK, progress: { calls: second?.progress.calls ?? [], heldMs: 50_000 } };
  expect(await announce.wait(late)).toMatchObject({ againMs: 60_000 });
  expect(taken()).toEqual([]);
  const before = Date.now() - 60_000;
  const calls = second?.progress.calls.map((call) => ({ ...call, askedAt: before })) ?? [];
  const progress = { calls };
  state.calls = [approval('a'), approval('b')];
  const third = await announce.wait({ ...LOOK, progress });
  expect(taken()).toEqual(['approval.requested b acme']);
  expect(third?.progress).toMatchObject({ calls: [{ askedAt: before }, {}] });
  expect(third?.progress.calls[1]?.askedAt).toBeGreaterThan(before);
  // One that is held back still waits after the other's answer.
  state.calls = [approval('b', { held: true })];
  expect(await announce.wait({ ...LOOK, ...first })).toBeDefined();
});

it('the calls of one step that are due at once are one notice, of which the first twenty are named', async () => {
  const { announce, state, taken, notices } = announcing();
  const names = Array.from({ length: 25 }, (_, n) => `c${String(n)}`);
  state.calls = names.map((name) => approval(name));
  const first = await announce.wait(LOOK);
  expect(notices).toMatchObject([{ toolCallId: 'c0', others: 24, calls: { length: 20 } }]);
  taken();
  // Others are not named in place of calls that receivers know.
  state.calls.reverse();
  await announce.wait({ ...LOOK, ...first });
  expect(taken()).toEqual([]);
  state.calls = [];
  await announce.wait({ ...LOOK, ...first, over: { approved: ['c0'], at: Date.now() } });
  expect(taken()).toEqual([
    'approval.settled c0 approved acme',
    `approval.settled ${names.slice(1, 20).join('+')} denied acme`,
  ]);
});

const MINUTE = 60_000;
const LATER = 20 * MINUTE;

const asked = (kind: AskedCall['kind']): AskedCall => ({
  toolCallId: 'c1',
  toolName: 'ask',
  kind,
  deadline: 10 * MINUTE,
});

function found(row: Partial<ToolRow>, onExpiry?: OpenCall['spec']['onExpiry']): OpenCall {
  const call = { toolCallId: 'c1', toolName: 'ask' };
  return {
    spec: { ...call, kind: 'client', input: {}, runId: 's:1-a', step: 1, onExpiry },
    state: 'settled',
    row: { role: 'tool', ...call, ...row },
  };
}

it('what the record says about an answer counts, however long after the deadline it is read', () => {
  const client = asked('client');
  const of = (row: Partial<ToolRow>): string => outcomeOf(client, found(row), undefined, LATER);
  expect(of({ output: 5 })).toBe('answered');
  expect(of({ error: 'No camera.', errorCode: 'client_tool_failed' })).toBe('answered');
  expect(of({ error: 'Late.', errorCode: 'client_tool_timeout' })).toBe('expired');
  const ofRun = ['run_stopped', 'run_failed', 'client_tool_abandoned', 'tool_outcome_unknown'];
  for (const errorCode of ofRun) expect(of({ error: 'Gone.', errorCode })).toBe('closed');
  expect(of({ decision: { approved: false, at: 1 } })).toBe('denied');
  const instead = (output: unknown, now = LATER): string =>
    outcomeOf(client, found({ output }, { result: { n: 1 } }), undefined, now);
  expect([instead({ n: 1 }), instead({ n: 2 })]).toEqual(['expired', 'answered']);
  expect(instead({ n: 1 }, MINUTE)).toBe('answered');
});

it('without a record what the run knew counts, by the time at which it knew it', () => {
  const of = (kind: AskedCall['kind'], over?: WaitOver): string =>
    outcomeOf(asked(kind), undefined, over, LATER);
  expect(of('approval', { approved: ['c1'], at: MINUTE })).toBe('approved');
  expect(of('approval', { approved: [], at: MINUTE })).toBe('denied');
  expect(of('client', { approved: [], at: MINUTE })).toBe('answered');
  expect(of('client', { approved: [], at: LATER })).toBe('expired');
  // The run's clock may be a little behind that of the store.
  expect(of('client', { approved: [], at: 10 * MINUTE - 400 })).toBe('expired');
  expect(of('client', { at: MINUTE })).toBe('closed');
  expect(of('approval', { approved: ['c1'] })).toBe('approved');
  expect(of('approval', { stopped: true, at: LATER })).toBe('closed');
  expect(of('approval')).toBe('expired');
});

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const USUAL = { remindAfterMs: [HOUR, DAY], escalateAfterMs: 4 * HOUR };

describe('the schedule of a wait', () => {
  it('the question is notified at once, and looked at again at the first reminder', () => {
    const { due, done, againMs } = lookAtSchedule(USUAL, -1, 0);
    expect(due).toEqual([{ stage: 'requested', atMs: 0 }]);
    expect([done, againMs]).toEqual([0, HOUR]);
  });

  it('each point is due once', () => {
    const seen: string[] = [];
    let done = -1;
    let now = 0;
    for (let looks = 0; looks < 10; looks += 1) {
      const outlook = lookAtSchedule(USUAL, done, now);
      seen.push(...outlook.due.map(({ stage, atMs }) => `${stage} ${String(atMs / HOUR)}`));
      done = outlook.done;
      now += outlook.againMs;
    }
    expect(seen).toEqual(['requested 0', 'reminder 1', 'escalated 4', 'reminder 24']);
  });

  it('a reminder comes 15 minutes before a deadline, and none after it', () => {
    const schedule = { ...USUAL, deadlineMs: 2 * HOUR };
    expect(lookAtSchedule(schedule, 0, HOUR)).toMatchObject({ againMs: 45 * MINUTE });
    const last = lookAtSchedule(schedule, HOUR, 105 * MINUTE);
    expect(last.due).toEqual([{ stage: 'reminder', atMs: 105 * MINUTE }]);
    // The run settles the call at its deadline; the schedule looks right after it.
    expect(last.againMs).toBe(15 * MINUTE + 5_000);
    expect(lookAtSchedule(schedule, 105 * MINUTE, 2 * DAY).due).toEqual([]);
  });

  it('after an outage only the newest reminder is due, beside the escalation', () => {
    const { due } = lookAtSchedule(USUAL, 0, 2 * DAY);
    expect(due).toEqual([
      { stage: 'escalated', atMs: 4 * HOUR },
      { stage: 'reminder', atMs: DAY },
    ]);
  });

  it('a question that is noticed late is no reminder', () =>
    expect(lookAtSchedule(USUAL, -1, 2 * HOUR).due).toEqual([{ stage: 'requested', atMs: 0 }]));

  it('without a signal a wait is looked at daily', () =>
    expect(lookAtSchedule({ remindAfterMs: [] }, 0, HOUR).againMs).toBe(DAY));
});

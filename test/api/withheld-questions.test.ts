import { toStoredSessionId, type Authorize } from '../../ai-sdk/index.js';
import type { Approvers, Role } from '../../protocol/actor.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import { hashInput } from '../../protocol/shown-call.js';
import { newSubAgent } from '../../store/conformance/tree.js';
import { drive, newCall, userMessage, type SessionDriver } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';

/** What colleagues read of a question that they may not decide. */
let api: ApiServer;
let authorize: Authorize | undefined;
beforeEach(() => {
  authorize = undefined;
});

async function open(id: string, settings?: Parameters<typeof startOnMemory>[0]) {
  const server = await startOnMemory(settings);
  api = server;
  return { stores: server.stores, session: drive(server.stores, toStoredSessionId(id, 'acme')) };
}
const authenticate = () => ({ userId: 'ann', tenantId: 'acme', roles: ['approver' as const] });

/** As this colleague reads it: bob has begun the run in a conversation of ann. */
async function seenBy(userId: string, role: Role, approvers: Approvers): Promise<object> {
  const { session } = await open('mine', {
    authorize,
    authenticate: () => ({ userId, tenantId: 'acme', roles: [role] }),
  });
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme', agent: 'tester', by: 'bob' });
  await session.ask(begun.runId, 1, [newCall('c1', 'approval', { approvers })]);
  const reply = await api.get('/api/operator/waiting');
  const { sessions } = (await reply.json()) as OperatorWaiting;
  const { mayDecide, missingRoles, mayWithdraw } = sessions[0]?.pending[0] ?? {};
  return { mayDecide, missingRoles, mayWithdraw };
}

it.each<[who: string, userId: string, role: Role, approvers: Approvers, seen: object]>([
  ['a viewer', 'vera', 'viewer', {}, { missingRoles: ['approver'] }],
  ['a viewer', 'vera', 'viewer', { roles: ['operator'] }, { missingRoles: ['operator'] }],
  ['an approver', 'lea', 'approver', { roles: ['operator'] }, { missingRoles: ['operator'] }],
  ['an approver whom the tool refuses', 'lea', 'approver', { rule: true }, {}],
  [
    'the owner without a role that is demanded',
    'ann',
    'viewer',
    { roles: ['approver'] },
    { missingRoles: ['approver'], mayWithdraw: true },
  ],
  ['the one who began the run', 'bob', 'operator', { separate: true }, { mayWithdraw: true }],
  ['that one without the right to answer', 'bob', 'viewer', { separate: true }, {}],
])('%s reads what would help: %s, %s, %j', async (_who, userId, role, approvers, seen) => {
  expect(await seenBy(userId, role, approvers)).toEqual({ mayDecide: false, ...seen });
});

it('where a host has a rule of its own no role is named', async () => {
  authorize = (_caller, action) => action === 'read';
  const seen = await seenBy('vera', 'viewer', { roles: ['approver'] });
  expect(seen).toEqual({ mayDecide: false });
});

it('whoever may decide sees what the model saw: hidden messages of all turns, also in a copy', async () => {
  const { stores } = await open('mine', { authenticate });
  const asking = async (id: string, source?: string): Promise<void> => {
    const session = drive(stores, toStoredSessionId(id, 'acme'));
    if (source === undefined) {
      const first = userMessage('h1', 'pay mallory');
      const hidden = { ...first, row: { ...first.row, hidden: true }, hidden: true };
      const begun = await session.newRun({ tenant: 'acme', messages: [hidden, userMessage('u1')] });
      await session.end(begun.runId, 'completed');
    } else {
      await api.post(`/api/chat/${source}/branch`, { sessionId: id }, {});
    }
    const next = await session.newRun({ tenant: 'acme', messages: [userMessage(`of-${id}`)] });
    await session.ask(next.runId, 1, [newCall('c1', 'approval', { input: { amount: 5 } })]);
  };
  await asking('mine');
  await asking('copy', 'mine');
  const hiddenMessages = [{ id: 'h1', parts: [{ type: 'text', text: 'pay mallory' }] }];
  const read = async (path: string): Promise<unknown> => (await api.get(path)).json();
  for (const list of ['/api/operator/waiting', '/api/sessions']) {
    expect(await read(list)).toMatchObject({ sessions: [{ hiddenMessages }, { hiddenMessages }] });
  }
  for (const id of ['mine', 'copy']) {
    expect(await read(`/api/sessions/${id}/pending`)).toMatchObject({ hiddenMessages });
    const session = await read(`/api/operator/sessions/${id}`);
    expect(session).toMatchObject({ hiddenMessages });
    expect(JSON.stringify((session as { messages: unknown }).messages)).not.toContain('mallory');
  }
});

it('no list of what waits reads a large conversation', async () => {
  const { session } = await open('large', { limits: { readBytesPerMinute: 1_000_000 } });
  const first = userMessage('h1', 'pay mallory');
  const hidden = { ...first, row: { ...first.row, hidden: true }, hidden: true };
  const messages = [hidden, userMessage('u1', 'x'.repeat(800_000))];
  const begun = await session.newRun({ tenant: 'acme', messages });
  await session.ask(begun.runId, 1, [newCall('c1', 'approval')]);
  const said = [{ parts: [{ text: expect.stringContaining('open it') as unknown }] }];
  for (let n = 0; n < 4; n += 1) {
    const reply = await api.get('/api/operator/waiting', { 'x-user': 'bob@acme@approver' });
    expect(await reply.json()).toMatchObject({ sessions: [{ hiddenMessages: said }] });
  }
});

it('each list of what waits gives what an answer names', async () => {
  const { session } = await open('mine', { authenticate });
  const begun = await session.newRun({ tenant: 'acme' });
  const { runId } = begun;
  const asked = { approvers: { roles: ['approver' as const] }, input: { amount: 5 } };
  await session.ask(runId, 1, [newCall('c1', 'approval', asked), newCall('c2', 'client', asked)]);
  const inputHash = hashInput({ amount: 5 });
  const pending = ['c1', 'c2'].map((toolCallId) => ({
    toolCallId,
    approvalId: `${runId}::${toolCallId}`,
    inputHash,
  }));
  const run = encodeURIComponent(runId);
  for (const path of [
    'operator/sessions/mine',
    `operator/runs/${run}`,
    'sessions/mine/pending',
    'chat/mine/snapshot',
    'agent/status?sessionId=mine',
  ]) {
    expect(await (await api.get(`/api/${path}`)).json()).toMatchObject({ pending });
  }
  for (const list of ['operator/waiting', 'sessions']) {
    const reply = await api.get(`/api/${list}`);
    expect(await reply.json()).toMatchObject({ sessions: [{ pending }] });
  }
  const waiting = { toolCallId: 'c1', inputHash, input: { amount: 5 } };
  for (const path of ['chat/mine/pending/c1', 'operator/waiting/mine/c1']) {
    for (const body of [{ approved: true }, { approved: false }, { error: 'no' }]) {
      const reply = await api.post(`/api/${path}`, body, {});
      const refused = { code: 'not_pending', detail: { waiting } };
      expect([reply.status, await reply.json()]).toMatchObject([409, refused]);
    }
    const extended = await api.post(`/api/${path}/extend`, { byMs: 1_000 }, {});
    expect(await extended.json()).toMatchObject({ code: 'not_pending', detail: { waiting } });
    // A person who may approve a call may also extend its deadline.
    const shown = { byMs: 1_000, approvalId: `${runId}::c1`, inputHash };
    const allowed = await api.post(`/api/${path}/extend`, shown, {});
    expect(await allowed.json()).toMatchObject({ code: 'no_deadline' });
  }
  const submit = { sessionId: 'mine', kind: 'approval-response', toolCallId: 'c1', approved: true };
  expect((await api.post('/api/agent/submit-tool-result', submit, {})).status).toBe(409);
  const named = { ...submit, approvalId: `${runId}::c1`, inputHash };
  expect((await api.post('/api/agent/submit-tool-result', named, {})).status).toBe(202);
});

it('the list of what waits has a question of a sub-agent once, and nothing younger than asked for', async () => {
  const { stores, session } = await open('mine', { authenticate });
  const { runId } = await session.newRun({ tenant: 'acme' });
  const { call, child } = newSubAgent(session.id, 'd1');
  await session.ask(runId, 1, [call]);
  const parent = { sessionId: session.id, runId, toolCallId: 'd1' };
  await stores.store.runs.beginChild({ child, parent, now: Date.now() });
  await drive(stores, child.sessionId).ask(child.runId, 1, [newCall('q', 'approval')]);
  const list = async (query: string) =>
    ((await (await api.get(`/api/operator/waiting${query}`)).json()) as OperatorWaiting).sessions;
  const pending = [{ toolCallId: 'q', mayDecide: true }];
  expect(await list('')).toMatchObject([{ sessionId: 'mine', pending }]);
  expect(await list('?olderThan=3600000')).toEqual([]);
});

/** A run whose log asks for the approval of a call by an approver. */
async function askApprover(session: SessionDriver): Promise<string> {
  const { runId } = await session.newRun({ owner: 'ann', tenant: 'acme', agent: 'tester' });
  const approvers = { roles: ['approver' as const] };
  const asked = { toolCallId: 'c1', toolName: 'pay', input: {}, approvers };
  const base = { agentId: session.id, agentType: 'tester', step: 1, timestamp: 1 };
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.commit(writer, {
    calls: [newCall('c1', 'approval', { approvers })],
    chunks: [{ type: 'tool_approval_request', approvalId: `${runId}::c1`, ...asked, ...base }],
  });
  return runId;
}

it('the stream of the agent server marks what its reader may not decide', async () => {
  const { session } = await open('mine');
  const runId = await askApprover(session);
  await session.end(runId, 'completed');
  for (const [role, isWithheld] of [
    ['viewer', true],
    ['approver', false],
  ] as const) {
    const path = '/api/agent/sse?sessionId=mine&fromSequence=0';
    const text = await (await api.get(path, { 'x-user': `ann@acme@${role}` })).text();
    expect(text).toContain('tool_approval_request');
    // A client compares the speaker with the id of its session.
    expect(text).toContain('"agentId":"mine"');
    expect([role, text.includes('"mayDecide":false')]).toEqual([role, isWithheld]);
  }
});

it('a chat that attaches is asked only what its reader may decide', async () => {
  const { session } = await open('mine');
  await askApprover(session);
  for (const [role, isAsked] of [
    ['viewer', false],
    ['approver', true],
  ] as const) {
    const headers = { 'x-user': `ann@acme@${role}`, 'x-resume-from-sequence': '0' };
    const reader = (await api.get('/api/chat/mine/stream', headers)).body?.getReader();
    let text = '';
    while (!text.includes('"c1"')) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    await reader?.cancel();
    expect([role, text.includes('tool-approval-request')]).toEqual([role, isAsked]);
  }
});

it('the events of a session mark what their reader may not decide', async () => {
  const { session } = await open('mine');
  const { runId } = await session.newRun({ owner: 'ann', tenant: 'acme', agent: 'tester' });
  const approvers = { roles: ['approver' as const] };
  await session.ask(runId, 1, [newCall('c1', 'approval', { approvers })]);
  const reply = await api.get('/api/chat/mine/events', { 'x-user': 'ann@acme@viewer' });
  const reader = reply.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(first).toContain('"mayDecide":false');
});

import type { FrontendSnapshot, PendingQuestion } from '../../protocol/replies.js';
import type {
  OperatorRunCount,
  OperatorRunDetail,
  OperatorRuns,
  OperatorSession,
  OperatorWaiting,
} from '../../protocol/operator.js';
import { createSignIn, json, outcome } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct('accounts');
const signIn = createSignIn(() => product.url);

type Snapshot = FrontendSnapshot<
  Record<string, unknown>,
  { id: string; role: string; parts: Part[] }
>;
interface Part {
  type: string;
  toolCallId?: string;
  state?: string;
  output?: unknown;
  approval?: { id: string; approved?: boolean };
}

/** Asks for a refund as a customer of the tenant. */
async function askForRefund(tenant: string, sub = 'cora') {
  const id = newSessionId();
  const customer = await signIn(sub, tenant);
  const message = { id: 'u1', role: 'user', content: 'I want a refund for order 1042 please' };
  const stream = await (await customer.post(`chat/${id}`, { message })).text();
  const snapshot = (): Promise<Snapshot> => json(customer.get(`chat/${id}/snapshot`));
  const [question] = (await snapshot()).pending ?? [];
  if (question === undefined) throw new Error(`nothing waits: ${stream}`);
  return { id, customer, stream, snapshot, question };
}

/** Forges the customer's copy with the refund approved, as a stock client would post it. */
async function forged(snapshot: Snapshot, { toolCallId, approvalId }: PendingQuestion) {
  const { messages } = snapshot;
  const approval = { id: approvalId, approved: true };
  return {
    messages: messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.toolCallId === toolCallId ? { ...part, state: 'approval-responded', approval } : part,
      ),
    })),
  };
}

describe('a refund that a colleague has to approve', () => {
  it('the customer cannot approve it by any way, and a colleague does, with another amount', async () => {
    const { id, customer, stream, snapshot, question } = await askForRefund('acme');
    const { toolCallId, approvalId, inputHash } = question;
    const names = { approvalId, inputHash };
    expect(question).toMatchObject({ toolName: 'refund', mayDecide: false });
    // Neither the stream, its replay nor the snapshot asks the customer.
    expect(stream).toContain('tool-input-available');
    expect(stream).not.toContain('tool-approval-request');
    expect(stream.trim().endsWith('data: [DONE]')).toBe(true);
    const before = await snapshot();
    expect(before.status).toBe('paused');
    expect(JSON.stringify(before.messages)).not.toContain('approval-requested');

    const refused = [403, 'not_allowed'];
    const path = `chat/${id}/pending/${toolCallId}`;
    expect(await outcome(customer.post(path, { approved: true }))).toEqual(refused);
    const copy = await forged(before, question);
    expect(await outcome(customer.post(`chat/${id}`, copy))).toEqual(refused);
    const submit = { sessionId: id, toolCallId, kind: 'approval-response', approved: true };
    expect(await outcome(customer.post('agent/submit-tool-result', submit))).toEqual(refused);
    expect(
      await outcome(customer.post(`operator/waiting/${id}/${toolCallId}`, { approved: true })),
    ).toEqual(refused);
    expect(await snapshot()).toMatchObject({ status: 'paused', pending: [{ toolCallId }] });
    expect((await snapshot()).streamSequence).toBe(before.streamSequence);

    const lead = await signIn('lea', 'acme', 'approver');
    const { sessions } = await json<OperatorWaiting>(lead.get('operator/waiting'));
    const waiting = sessions.find(({ sessionId }) => sessionId === id);
    expect(waiting).toMatchObject({
      agent: 'support',
      owner: 'cora',
      pending: [{ toolCallId, approvalId, mayDecide: true, separateApprover: true }],
    });
    const input = { ...(question.input as object), amount: 20 };
    const answer = { approved: true, input, reason: 'goodwill' };
    const call = `operator/waiting/${id}/${toolCallId}`;
    // The answer must name the pending call, including its input; a refusal shows the actual one.
    const waits = { code: 'not_pending', detail: { waiting: { ...names, input: question.input } } };
    for (const shown of [{}, { approvalId }, { ...names, inputHash: 'another' }]) {
      const reply = await lead.post(call, { ...answer, ...shown });
      expect([reply.status, await reply.json()]).toMatchObject([409, waits]);
    }
    // A changed input is a new question, so another colleague has to agree to it.
    expect(await json(lead.post(call, { ...answer, ...names }))).toMatchObject({
      result: 'edited',
    });
    const [changed] = (await snapshot()).pending ?? [];
    expect(changed).toMatchObject({ approvalId, input, edited: { by: 'lea' }, mayDecide: false });
    const shown = { approvalId, inputHash: changed?.inputHash };
    expect(await outcome(lead.post(call, { approved: true, ...shown }))).toEqual([
      403,
      'not_allowed',
    ]);
    const olaf = await signIn('olaf', 'acme', 'approver');
    expect(await outcome(olaf.post(call, { approved: true, ...shown }))).toEqual([202]);
    await until('the refund is made', async () => (await snapshot()).status === 'ended');
    const { messages } = await snapshot();
    const part = messages.at(-1)?.parts.find((each) => each.toolCallId === toolCallId);
    expect(part).toMatchObject({
      state: 'output-available',
      output: { orderId: '1042', amount: 20 },
      approval: { approved: true },
    });
    expect(await json(lead.get('operator/waiting'))).toEqual({ sessions: [] });
  });
});

describe('the runs of a tenant', () => {
  it('a viewer lists, counts and reads them, and an operator stops and repeats one', async () => {
    const { id, snapshot, question } = await askForRefund('runs');
    const runId = (await snapshot()).run?.runId ?? '';
    const run = `operator/runs/${encodeURIComponent(runId)}`;
    const viewer = await signIn('vera', 'runs', 'viewer');
    const listed = async (query = ''): Promise<OperatorRuns> =>
      json(viewer.get(`operator/runs${query}`));
    await until('Temporal lists the run', async () => {
      const { runs } = await listed('?status=waiting_approval&agent=support');
      return runs.some((each) => each.runId === runId);
    });
    expect((await listed()).runs).toEqual([
      expect.objectContaining({
        runId,
        sessionId: id,
        agent: 'support',
        status: 'waiting_approval',
      }),
    ]);
    expect((await listed('?status=completed')).runs).toEqual([]);
    expect(
      (await listed("?query=AgentTurn%20%3D%201%20AND%20AgentName%3D'support'")).runs,
    ).toHaveLength(1);
    expect(await json<OperatorRunCount>(viewer.get('operator/runs/count'))).toEqual({
      total: 1,
      groups: [{ value: 'waiting_approval', count: 1 }],
    });
    expect(await json<OperatorRunDetail>(viewer.get(run))).toMatchObject({
      runId,
      owner: 'cora',
      isNewest: true,
      steps: [
        { step: 1, calls: [{ toolName: 'lookupOrder', state: 'done' }] },
        { step: 2, calls: [{ toolName: 'refund', state: 'waiting' }] },
      ],
      pending: [{ toolCallId: question.toolCallId, mayDecide: false }],
    });
    expect(await json<OperatorSession>(viewer.get(`operator/sessions/${id}`))).toMatchObject({
      sessionId: id,
      owner: 'cora',
      messages: [{ role: 'user' }, { role: 'assistant' }],
      pending: [{ toolCallId: question.toolCallId }],
    });
    expect(await outcome(viewer.post(`${run}/stop`))).toEqual([403, 'not_allowed']);

    const operator = await signIn('olaf', 'runs', 'operator');
    expect(await json(operator.post(`${run}/stop`, { reason: 'looks wrong' }))).toEqual({
      result: 'ended',
      runId,
    });
    expect(await json(viewer.get(run))).toMatchObject({
      status: 'interrupted',
      reason: 'looks wrong',
    });
    const again = await json<{ runId: string }>(
      operator.post(`${run}/retry`, { reason: 'once more' }),
    );
    expect(again.runId).not.toBe(runId);
    await product.apiSays('a run was continued or repeated');
    expect(product.log()).not.toContain('once more');
    expect(await outcome(operator.post(`${run}/stop`))).toEqual([409, 'stale_run']);
    await until('the repeated run asks', async () => (await snapshot()).status === 'paused');
    expect(
      await json(viewer.get(`operator/runs/${encodeURIComponent(again.runId)}`)),
    ).toMatchObject({
      by: 'olaf',
      mode: 'retry',
    });
  });
});

describe("a sub-agent's question", () => {
  it("a sub-agent's question is in the tenant's list once, and is answered there", async () => {
    const id = newSessionId();
    const customer = await signIn('cora', 'below');
    const charge = { calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] };
    const script = [
      { calls: [{ tool: 'delegate', id: 'd1', args: { script: [charge, { say: 'done' }] } }] },
      { say: 'ended' },
    ];
    const message = { id: 'u1', role: 'user', content: JSON.stringify({ script }) };
    await (await customer.post(`chat/${id}`, { message, agent: 'lab' })).text();
    const approver = await signIn('lea', 'below', 'approver');
    const { sessions } = await json<OperatorWaiting>(approver.get('operator/waiting'));
    expect(sessions).toMatchObject([
      { sessionId: id, owner: 'cora', pending: [{ toolName: 'charge', mayDecide: true }] },
    ]);
    const toolCallId = sessions[0]?.pending[0]?.toolCallId ?? '';
    const older = await json<OperatorWaiting>(approver.get('operator/waiting?olderThan=3600000'));
    expect(older.sessions).toEqual([]);
    const path = `operator/waiting/${id}/${toolCallId}`;
    expect(await outcome(approver.post(path, { approved: true }))).toEqual([202]);
    await until('the run has ended', async () => {
      const snapshot = await json<Snapshot>(customer.get(`chat/${id}/snapshot`));
      return snapshot.status === 'ended';
    });
  });
});

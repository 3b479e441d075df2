import { z } from 'zod';
import {
  createRuleModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type ToolContext,
} from '../../agents/index.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { Responder } from '../../protocol/actor.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import { createRunHarness, type RunHarness } from '../support/run-harness.js';
import { userMessage } from '../support/session-driver.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

type Seen = Pick<ToolContext, 'requester' | 'approver' | 'attempt'>;
const seen = new Map<string, Seen[]>();
const note = ({ sessionId, requester, approver, attempt }: ToolContext): void => {
  const [root = ''] = sessionId.split('.');
  seen.set(root, [...(seen.get(root) ?? []), { requester, approver, attempt }]);
};

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ to: z.string() }),
  requireApproval: true,
  separateApprover: true,
  approvers: ['approver'],
  retry: { attempts: 2, initialIntervalMs: 1 },
  idempotent: true,
  execute: (_input, context) => {
    note(context);
    if (context.attempt === 1) throw new Error('try again');
    return 'paid';
  },
});
/** Always calls `pay`; the model's input names another requester. */
const model = createRuleModel(({ results }) =>
  results.length === 0
    ? { calls: [{ tool: 'pay', args: { to: 'shop', requester: 'eve' } }] }
    : { say: 'paid' },
);
const base = { systemPrompt: '', tools: [pay], llmConfig: { model } };
const shapes = [undefined, 'leg'] as const;
const agents = shapes.flatMap((activities) => {
  const shape = activities ?? 'step';
  const payer = defineAgent({ ...base, name: `payer-${shape}`, activities });
  const parent = defineAgent({
    name: `parent-${shape}`,
    systemPrompt: '',
    activities,
    tools: [
      createSubAgentTool({
        name: 'delegate',
        description: 'Delegates.',
        agent: payer,
        inputSchema: z.object({ message: z.string() }),
      }),
    ],
    llmConfig: {
      model: createRuleModel(({ results }) =>
        results.length === 0
          ? { calls: [{ tool: 'delegate', args: { message: 'pay' } }] }
          : { say: 'all paid' },
      ),
    },
  });
  return [payer, parent];
});

const tenant = { tenantId: 'acme' };
const ANN: Responder = { userId: 'ann', ...tenant, roles: ['viewer'], personId: 'p-ann' };
const OTTO: Responder = { userId: 'otto', ...tenant, roles: ['operator'] };
const BOB: Responder = { userId: 'other-tenant:hq|bob', ...tenant, roles: ['approver'] };

let stores: TestStores;
let runs: RunHarness;
let worker: Awaited<ReturnType<RunHarness['startWorker']>>;
beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, agents);
  worker = await runs.startWorker();
});

const untilAsked = (sessionId: string, before = ''): Promise<OpenCall> =>
  until('people are asked', async () => {
    const view = await stores.store.sessions.view(sessionId);
    if (view?.record.stream !== 'paused') return undefined;
    return view.openCalls.find(
      ({ state, spec }) => state === 'waiting' && spec.toolName === 'pay' && spec.runId !== before,
    );
  });

function approve(sessionId: string, { spec }: OpenCall, responder: Responder) {
  const { toolCallId, runId, input } = spec;
  const shown = { approvalId: formatApprovalId(runId, toolCallId), inputHash: hashInput(input) };
  const answer = { kind: 'approval-response', toolCallId, ...shown, approved: true } as const;
  return runs.executor.submitToolResult(
    { ...answer, sessionId, by: responder.userId },
    { responder },
  );
}

/** Plays Ann's turn until an operator's retry of it asks. */
async function askTwice(agent: string): Promise<{ sessionId: string; call: OpenCall }> {
  const sessionId = runs.newSessionId();
  await runs.executor.execute({
    sessionId,
    agent,
    owner: 'ann',
    tenant: 'acme',
    messages: [userMessage('u1', 'pay')],
    askers: [ANN],
  });
  const first = await untilAsked(sessionId);
  await runs.executor.retry({ sessionId, by: OTTO.userId, roles: OTTO.roles });
  return { sessionId, call: await untilAsked(sessionId, first.spec.runId) };
}

it('a tool acts for the author of the message and who approved, whoever repeated the turn', async () => {
  const asked = await Promise.all(agents.map(({ name }) => askTwice(name)));
  // No process remembers the pending calls now.
  await worker.stop();
  await runs.startWorker();
  for (const { sessionId, call } of asked) {
    await expect(approve(sessionId, call, OTTO)).rejects.toMatchObject({ code: 'not_allowed' });
    expect((await approve(sessionId, call, BOB)).kind).toBe('stored');
  }
  const people = {
    requester: { userId: 'ann', ...tenant, roles: ['viewer'] },
    approver: { userId: 'bob', tenantId: 'hq', roles: ['approver'] },
  };
  for (const { sessionId } of asked) {
    await runs.untilStatus(sessionId, 'completed');
    expect(seen.get(sessionId)).toEqual([
      { ...people, attempt: 1 },
      { ...people, attempt: 2 },
    ]);
    const rows = JSON.stringify(await stores.store.sessions.rows(sessionId, 0));
    expect(rows).not.toContain('p-ann');
    expect(rows).not.toContain('"roles"');
  }
}, 30_000);

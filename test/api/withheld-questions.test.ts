import { toStoredSessionId, type Authorize } from '../../ai-sdk/index.js';
import type { Role } from '../../protocol/actor.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import type { Approvers } from '../../protocol/roles.js';
import { drive, newCall } from '../support/session-driver.js';
import { startOnMemory, type ApiServer } from './api-server.js';

/** What colleagues read of a question that they may not decide. */
let api: ApiServer;
let authorize: Authorize | undefined;
beforeEach(() => {
  authorize = undefined;
});
afterEach(() => api.close());

/** As this colleague reads it: bob has begun the run in a conversation of ann. */
async function seenBy(userId: string, role: Role, approvers: Approvers): Promise<object> {
  const server = await startOnMemory({
    authorize,
    authenticate: () => ({ userId, tenantId: 'acme', roles: [role] }),
  });
  api = server;
  const session = drive(server.stores, toStoredSessionId('mine', 'acme'));
  const begun = await session.begin({ owner: 'ann', tenant: 'acme', agent: 'tester', by: 'bob' });
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  await session.ask(begun.run.runId, 1, [newCall('c1', 'approval', { approvers })]);
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

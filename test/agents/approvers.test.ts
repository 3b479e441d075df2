import { z } from 'zod';
import type { ApproverRule } from '../../agents/tool-config.js';
import { createApproverCheck, toApprovers } from '../../agents/approvers.js';
import { AgentRegistry, defineAgent, defineTool } from '../../agents/index.js';
import {
  type Role,
  fulfils,
  lackedRoles,
  toPerson,
  toVisitorName,
  type KnownPerson,
  type Responder,
} from '../../protocol/actor.js';

const base = {
  name: 'pay',
  description: 'Pays.',
  inputSchema: z.object({ amount: z.number() }),
  execute: () => 'paid',
};
const define = (extra: object) => () => defineTool({ ...base, ...extra });

describe('the approvers of a tool', () => {
  it('a tool may name roles, a function, and that the owner is not the approver', () => {
    const tool = defineTool({
      ...base,
      requireApproval: true,
      approvers: ['approver'],
      separateApprover: true,
    });
    expect(toApprovers(tool)).toEqual({ roles: ['approver'], separate: true });
    expect(toApprovers({ approvers: () => true })).toEqual({ rule: true });
    expect(toApprovers({})).toBeUndefined();
    expect(toApprovers({ separateApprover: false })).toBeUndefined();
  });

  it.each([
    [{ approvers: ['approver'] }, /approvers says who may approve.*requireApproval/],
    [{ separateApprover: true }, /separateApprover says who may approve/],
    [{ requireApproval: true, approvers: [] }, /approvers must be a function, or a list/],
    [{ requireApproval: true, approvers: ['viewer'] }, /'approver' and 'operator'/],
    [{ requireApproval: true, approvers: 'approver' }, /approvers must be a function/],
    [{ requireApproval: true, separateApprover: 'yes' }, /must be true or false/],
    [
      { requireApproval: true, separateApprover: true, deadlineMs: 1, onExpiry: 'approve' },
      /onExpiry must not be 'approve'/,
    ],
  ])('%j is refused', (extra, message) => {
    expect(define(extra)).toThrow(message);
  });
});

describe('the check of an approver', () => {
  const rule: ApproverRule = ({ userId }, { input }) => {
    const { amount } = input as { amount: number };
    if (userId === 'thrower') throw new Error('no');
    if (userId === 'hanger') return new Promise<boolean>(() => undefined);
    if (userId === 'clumsy') return { allowed: 'yes' } as never;
    return amount <= 100 || { allowed: false, reason: 'above your limit' };
  };
  const tool = defineTool({ ...base, requireApproval: true, approvers: rule });
  const agent = defineAgent({
    name: 'payer',
    systemPrompt: 'Pay.',
    tools: [tool],
    llmConfig: { model: 'scripted' },
  });
  const check = createApproverCheck(new AgentRegistry([agent]));
  const request = {
    sessionId: 's',
    owner: 'ann',
    runId: 's:1-a',
    toolCallId: 'c',
    toolName: 'pay',
    input: { amount: 5 },
    agent: 'payer',
  };
  const ask = (userId: string, approvers: object, extra: object = {}) =>
    check(
      { userId, ...extra },
      { toolName: 'pay', runId: 's:1-a', approvers },
      { ...request, askedBy: { owner: request.owner }, ...extra },
    );

  it.each([
    [[], 'approver', false],
    [['viewer'], 'approver', false],
    [['approver'], 'approver', true],
    [['operator'], 'approver', true],
    [['approver'], 'operator', false],
    [undefined, 'approver', false],
  ])('a caller with %j is an %s: %s', async (roles, wanted, allowed) => {
    const demand = { roles: [wanted as Role] };
    expect(await ask('bob', demand, { roles })).toEqual({ allowed });
  });

  it('the owner cannot be a separate approver, unless the server has no sign-in', async () => {
    expect(await ask('ann', { separate: true })).toEqual({ allowed: false });
    expect(await ask('bob', { separate: true })).toEqual({ allowed: true });
    expect(await ask('', { separate: true })).toEqual({ allowed: false });
    expect(await ask('ann', { separate: true }, { isEveryone: true })).toEqual({ allowed: true });
  });

  const t1 = { tenantId: 't1' };
  it.each<[what: string, responder: Responder, askers: KnownPerson[], allowed: boolean]>([
    [
      'who has created a schedule that another one fired',
      { userId: 'olga' },
      [{ userId: 'olga' }, { userId: 'carl' }],
      false,
    ],
    ['who has fired it', { userId: 'carl' }, [{ userId: 'olga' }, { userId: 'carl' }], false],
    ['a third', { userId: 'dora' }, [{ userId: 'olga' }, { userId: 'carl' }], true],
    ['the owner from another tenant', { userId: 'other-tenant:hq|ann', ...t1 }, [], false],
    [
      'the owner from another tenant, by the person',
      { userId: 'other-tenant:hq|boss', ...t1, personId: 'P' },
      [{ userId: 'ann', ...t1, personId: 'P' }],
      false,
    ],
    [
      'a visitor of the same name from another issuer',
      { userId: 'other-tenant:hq|ann', ...t1, personId: 'Q' },
      [{ userId: 'ann', ...t1, personId: 'P' }],
      true,
    ],
    [
      'a visitor who has asked, by the account there',
      { userId: 'olga', ...t1 },
      [{ userId: 'olga', tenantId: 'hq' }],
      false,
    ],
    [
      'the account of an asker, whatever else is known of it',
      { userId: 'olga', ...t1, personId: 'Q' },
      [{ userId: 'olga', ...t1, personId: 'P' }],
      false,
    ],
    [
      'the owner from a tenant whose name has other letters',
      { userId: toVisitorName({ tenantId: 'zürich|1', userId: 'ann' }), ...t1 },
      [],
      false,
    ],
    [
      'a name that is no visitor of any tenant',
      { userId: 'other-tenant:%zz|ann', ...t1 },
      [],
      false,
    ],
  ])('of several names of one person each counts: %s', (_what, responder, askers, allowed) => {
    const asked = { owner: 'ann', tenant: 't1', askers };
    expect(fulfils({ separate: true }, responder, asked)).toBe(allowed);
  });

  it('a function sees what would be executed, and only its clear yes counts', async () => {
    const of = { rule: true };
    expect(await ask('bob', of)).toEqual({ allowed: true });
    expect(await ask('bob', of, { input: { amount: 500 } })).toEqual({
      allowed: false,
      reason: 'above your limit',
    });
    expect(await ask('thrower', of)).toEqual({ allowed: false });
    expect(await ask('clumsy', of)).toEqual({ allowed: false });
    expect(await ask('bob', of, { agent: 'gone' })).toEqual({ allowed: false });
  });

  it('a function that does not decide is not waited for', async () => {
    jest.useFakeTimers();
    const refused = expect(ask('hanger', { rule: true })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await jest.advanceTimersByTimeAsync(1_500);
    await refused;
  });
});

it('a person who asked lacks no role where another has to decide', () => {
  const approvers = { roles: ['approver' as const], separate: true };
  const lacked = (userId: string) => lackedRoles(approvers, { userId }, { owner: 'ann' });
  expect([lacked('ann'), lacked('bob')]).toEqual([[], ['approver']]);
});

it('a name is kept as text that can be stored', () => {
  expect(toPerson('ann\ud800')).toEqual({ userId: 'ann\ufffd' });
});

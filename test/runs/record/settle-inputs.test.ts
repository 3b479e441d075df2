import { LIMITS } from '../../../protocol/limits.js';
import { hashInput } from '../../../protocol/shown-call.js';
import { hashText, toAnswerAct } from '../../../runs/record/acts.js';
import { toAnswerInput, toExpiryInput, toHookInput } from '../../../runs/record/settle-inputs.js';
import type { OpenCall } from '../../../store/contract/call-record.js';

/** A sub-agent's session in the second step of its run and the fifth of its conversation. */
const asker = {
  sessionId: 's.1-x',
  agent: 'helper',
  committedStep: 2,
  conversationStep: 5,
  tenant: 'acme',
};
const spec = {
  runId: 's.1-x:1-r',
  toolCallId: 'c1',
  toolName: 'pay',
  kind: 'approval',
  input: 1,
} as const;
const callOf = (more: object): OpenCall =>
  ({ state: 'suspended', spec: { ...spec, ...more } }) as unknown as OpenCall;
const answered = { sessionId: 's', toolCallId: 'c1' };
const inConversation = { agentId: 's', agentType: 'helper', step: 5 };

it('a denial keeps no input, and is shown in the message of the conversation', () => {
  const denial = { ...answered, kind: 'approval-response', approved: false, input: 2 } as const;
  expect(toAnswerInput(denial, asker, spec, { now: 7 })).toMatchObject({
    source: 'approval',
    decision: { approved: false, at: 7, input: undefined },
    chunks: [{ ...inConversation, type: 'tool_approval_response', approved: false }],
  });
});

it('the late result of a page is told in part', () => {
  const result = 'x'.repeat(LIMITS.inlineResultBytes);
  const given = { ...answered, kind: 'client-tool-result', result } as const;
  const input = toAnswerInput(given, asker, { ...spec, kind: 'client' }, { now: 7 });
  const { late = '' } = input as { late?: string };
  expect(late).toMatch(/^The result was: "xxx/);
  expect(late.length).toBeLessThan(LIMITS.inlineResultBytes / 3);
});

it('a call without an answer is decided by its tool, in the audit trail of its tenant', () => {
  const call = { ...callOf({ onExpiry: 'approve' }), state: 'waiting' } as OpenCall;
  expect(toExpiryInput(call, asker, 7)).toMatchObject({
    source: 'expiry',
    decision: { approved: true, automatic: true },
    chunks: [{ ...inConversation, approved: true, isAutomatic: true }],
    act: { action: 'expire', via: 'auto', tenant: 'acme', toolCallId: 'c1' },
  });
  const ofPage = callOf({ kind: 'client', onExpiry: { result: 'unknown' } });
  const row = { output: 'unknown' };
  expect(toExpiryInput({ ...ofPage, state: 'waiting' }, asker, 7)).toMatchObject({ row });
});

it('the result of a webhook is shown with the tool that waited, and keeps the approval', () => {
  const decision = { approved: true, at: 1 };
  const settle = (kind: string) =>
    toHookInput(callOf({ kind, decision }), spec, asker, { secret: 'x', output: 'paid' }, 7);
  const row = { role: 'tool', output: 'paid', decision };
  expect(settle('server')).toMatchObject({
    source: 'webhook',
    secret: 'x',
    row,
    chunks: [{ agentId: 's.1-x', step: 2, providerExecuted: true, result: 'paid' }],
    act: { action: 'result', by: 'webhook', via: 'link', tenant: 'acme' },
  });
  expect(settle('approval')).toMatchObject({
    row,
    chunks: [{ ...inConversation, result: 'paid' }],
  });
});

it.each([
  [
    { kind: 'approval-response', approved: false, reason: 'no' },
    { action: 'deny', reasonHash: hashText('no') },
  ],
  [
    { kind: 'approval-response', approved: true, input: 2 },
    {
      action: 'approve',
      inputHash: hashInput(2),
      reasonHash: undefined,
      detail: { inputHashBefore: hashInput(1) },
    },
  ],
  [
    { kind: 'client-tool-result', result: 3 },
    { action: 'result', inputHash: hashInput(3) },
  ],
  [
    { kind: 'client-tool-result', error: 'no' },
    { action: 'error', reasonHash: hashText('no') },
  ],
] as const)('the act of the answer %j', (answer, expected) => {
  const actor = { by: 'bob', roles: ['approver' as const], via: 'link' as const };
  const act = toAnswerAct({ ...answered, ...answer }, actor, spec, 'acme', 7);
  const { runId, toolCallId, toolName } = spec;
  expect(act).toMatchObject({
    ...actor,
    runId,
    toolCallId,
    toolName,
    tenant: 'acme',
    at: 7,
    ...expected,
  });
});

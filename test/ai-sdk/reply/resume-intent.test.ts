import { extractResumeIntent, type ResumableState } from '../../../ai-sdk/index.js';
import type { PostedMessage } from '../../../protocol/http.js';
import { hashInput } from '../../../protocol/shown-call.js';
import type { PendingCall } from '../../../store/contract/calls.js';

const RUN = 's1:1-abc';

function pending(
  toolCallId: string,
  kind: PendingCall['kind'],
  response?: PendingCall['response'],
): PendingCall {
  const answered = response === undefined ? {} : { response };
  const input = { a: 1 };
  const names = { approvalId: `${RUN}::${toolCallId}`, inputHash: hashInput(input) };
  return { toolCallId, toolName: 'tool', kind, input, runId: RUN, ...names, ...answered };
}

function waitingFor(...calls: PendingCall[]): ResumableState {
  return { pendingClientToolCalls: Object.fromEntries(calls.map((c) => [c.toolCallId, c])) };
}

const yes = { decision: { approved: true, at: 0 } };

function assistant(...parts: Record<string, unknown>[]): PostedMessage {
  const tools = parts.map((part) => ({ type: 'dynamic-tool', toolName: 'tool', ...part }));
  return { id: 'msg-1', role: 'assistant', parts: [{ type: 'step-start' }, ...tools] };
}

function approved(
  toolCallId: string,
  runId = RUN,
  answer: unknown = true,
): Record<string, unknown> {
  const approval = { id: `${runId}::${toolCallId}`, approved: answer, reason: 'ok' };
  return { toolCallId, state: 'approval-responded', input: { a: 999 }, approval };
}

const user: PostedMessage = { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'hi' }] };

describe('extractResumeIntent', () => {
  it('extractResumeIntent reads the answer of a pending approval, and nothing else of the part', () => {
    const result = extractResumeIntent(
      [assistant(approved('c1'))],
      waitingFor(pending('c1', 'approval')),
      RUN,
    );
    expect(result).toEqual({
      intents: [
        {
          kind: 'approval-response',
          toolCallId: 'c1',
          approvalId: `${RUN}::c1`,
          approved: true,
          reason: 'ok',
        },
      ],
      rejected: [],
      hasTrailingUserMessage: false,
    });
  });

  it('of a call with approvers the posted input is named as well, which is what was shown', () => {
    const approvers = { roles: ['approver' as const] };
    const calls = waitingFor(
      { ...pending('c1', 'approval'), approvers },
      { ...pending('c2', 'client'), approvers },
      { ...pending('c3', 'client'), approvers },
    );
    const messages = [
      assistant(
        approved('c1'),
        { toolCallId: 'c2', state: 'output-available', output: 1, input: { a: 1 } },
        { toolCallId: 'c3', state: 'output-error', errorText: 'no' },
      ),
    ];
    const { intents } = extractResumeIntent(messages, calls, RUN);
    expect(intents.map((intent) => intent.inputHash)).toEqual([
      hashInput({ a: 999 }),
      hashInput({ a: 1 }),
      undefined,
    ]);
  });

  it('extractResumeIntent reads results of pending client calls', () => {
    const messages = [
      assistant(
        { toolCallId: 'c1', state: 'output-available', output: 'Berlin' },
        { toolCallId: 'c2', state: 'output-error', errorText: 'no signal' },
      ),
    ];
    const calls = waitingFor(pending('c1', 'client'), pending('c2', 'client'));
    expect(extractResumeIntent(messages, calls, RUN).intents).toEqual([
      { kind: 'client-tool-result', toolCallId: 'c1', result: 'Berlin' },
      { kind: 'client-tool-result', toolCallId: 'c2', error: 'no signal' },
    ]);
  });

  it.each([
    ['an older run', approved('c1', 's1:0-old'), pending('c1', 'approval'), 'stale-run'],
    ['an unknown call', approved('c9'), pending('c1', 'approval'), 'not-pending'],
    ['an answered call', approved('c1'), pending('c1', 'approval', yes), 'already-completed'],
    [
      'a settled call',
      approved('c1'),
      pending('c1', 'approval', { row: { role: 'tool', toolCallId: 'c1', toolName: 'tool' } }),
      'already-completed',
    ],
    ['a client call', approved('c1'), pending('c1', 'client'), 'kind-mismatch'],
    [
      'a made-up result of a call that waits for approval',
      { toolCallId: 'c1', state: 'output-available', output: 'done' },
      pending('c1', 'approval'),
      'kind-mismatch',
    ],
    [
      'an approval id of another call',
      { ...approved('c2'), toolCallId: 'c1' },
      pending('c1', 'approval'),
      'not-pending',
    ],
  ])('extractResumeIntent rejects an answer for %s', (_name, part, call, reason) => {
    const { intents, rejected } = extractResumeIntent([assistant(part)], waitingFor(call), RUN);
    expect(intents).toEqual([]);
    expect(rejected).toMatchObject([{ reason }]);
  });

  it.each([
    [
      'server results',
      { toolCallId: 'c1', state: 'output-available', output: 1, providerExecuted: true },
    ],
    [
      'results of calls that wait no more',
      { toolCallId: 'c0', state: 'output-available', output: 1 },
    ],
    ['answers that are no yes and no no', approved('c1', RUN, 'yes')],
    [
      'parts without a call',
      { state: 'approval-responded', approval: { id: 'x', approved: true } },
    ],
    ['other parts', { type: 'text', text: 'approval-responded' }],
  ])('extractResumeIntent ignores %s', (_name, part) => {
    const result = extractResumeIntent([assistant(part)], waitingFor(pending('c1', 'client')), RUN);
    expect(result).toMatchObject({ intents: [], rejected: [] });
  });

  it('extractResumeIntent takes the answer to a call that counts, whatever stands beside it', () => {
    const made = { toolCallId: 'c1', state: 'output-available', output: 'done' };
    const calls = waitingFor(pending('c1', 'approval'));
    for (const given of [
      [made, approved('c1')],
      [approved('c1'), made],
      [approved('c1', 's1:0-old'), approved('c1')],
    ]) {
      const { intents, rejected } = extractResumeIntent([assistant(...given)], calls, RUN);
      expect([intents.length, rejected]).toEqual([1, []]);
    }
  });

  it('extractResumeIntent reads the last assistant message only, also before new user messages', () => {
    const calls = waitingFor(pending('c1', 'approval'));
    const behind = extractResumeIntent([assistant(approved('c1')), user], calls, RUN);
    expect(behind.intents).toHaveLength(1);
    expect(behind.hasTrailingUserMessage).toBe(true);
    const older = extractResumeIntent([assistant(approved('c1')), user, assistant()], calls, RUN);
    expect(older.intents).toEqual([]);
  });

  it('extractResumeIntent reads one answer to a call', () => {
    const twice = assistant(approved('c1'), {
      ...approved('c1'),
      approval: { id: `${RUN}::c1`, approved: false },
    });
    const { intents } = extractResumeIntent([twice], waitingFor(pending('c1', 'approval')), RUN);
    expect(intents).toMatchObject([{ approved: true }]);
  });
});

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { OperatorRunDetail, OperatorWaitingSession } from '../../protocol/operator.js';
import type { PageConfig } from '../../web/src/api-client.js';
import { Contents, forkPoints, RunFacts, RunView } from '../../web/src/console/run-view.js';
import { UsageView } from '../../web/src/console/usage-view.js';
import { findChoices, keyOf } from '../../web/src/console/waiting-list.js';
import { describeDeciders, WaitingQuestion } from '../../web/src/console/waiting-question.js';

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
function show(element: ReactElement, client = new QueryClient()): string {
  return renderToStaticMarkup(createElement(QueryClientProvider, { client }, element));
}

const questionAs = (mayDecide: boolean): ReactElement =>
  createElement(WaitingQuestion, {
    question: {
      toolCallId: 'c1',
      toolName: 'charge',
      kind: 'approval',
      mayDecide,
      input: { amount: 5, note: HTML },
      approvalId: 's1:1-a::c1',
      inputHash: 'h',
    },
    runId: 's:1-a',
    callKey: 'k',
    mayExtend: false,
    isChosen: undefined,
    onChoose: () => undefined,
    onTouched: () => undefined,
    onAnswer: async () => undefined,
    onExtend: async () => undefined,
  });

const RUN = {
  runId: 's:1-a',
  sessionId: 's',
  agent: 'lab',
  owner: 'ann',
  status: 'completed',
  isNewest: true,
  mode: 'chat',
  stepCount: 1,
  startedAt: 1,
} as const;

const configOf = (...roles: PageConfig['roles'][number][]): PageConfig =>
  ({ agents: [], cards: [], roles }) as unknown as PageConfig;

describe('the console', () => {
  it.each([
    ['running', 'operator', ['stop', 'fork']],
    ['failed', 'operator', ['resume', 'retry', 'fork']],
    ['interrupted', 'operator', ['resume', 'retry', 'fork']],
    ['completed', 'operator', ['retry']],
    ['failed', 'approver', []],
  ] as const)('of a run that is %s, to an %s, it offers %j', (status, role, acts) => {
    const client = new QueryClient();
    client.setQueryData(['run', RUN.runId], { ...RUN, status, steps: [], pending: [] });
    const config = configOf(role);
    const html = show(createElement(RunView, { runId: RUN.runId, config }), client);
    const offered = html.matchAll(/data-testid="run-(stop|resume|retry|fork)"/g);
    expect([...offered].map(([, act]) => act)).toEqual(acts);
  });

  it('costs are in dollars', () => {
    const used = { inputTokens: 1, outputTokens: 2, costMicroUsd: 2_503_400 };
    const run = { ...RUN, steps: [], pending: [], usage: used } as unknown as OperatorRunDetail;
    expect(show(createElement(RunFacts, { run, config: configOf() }))).toContain('$2.5034');
    const client = new QueryClient();
    const [since, until] = ['2026-01-01', '2026-01-02'];
    const usage = [{ day: since, runs: 1, ...used }];
    client.setQueryData(['usage', 'day', since, until], { usage });
    const place = { view: 'usage', settings: { since, until } } as const;
    expect(show(createElement(UsageView, { place }), client)).toContain('>$2.50<');
  });

  it('a run leads to its trace if there is one', () => {
    const config = configOf();
    const factsOf = (run: OperatorRunDetail): string =>
      show(createElement(RunFacts, { run, config }));
    const traceUrl = 'https://traces.example/1';
    expect(factsOf({ ...RUN, steps: [], pending: [], traceUrl })).toContain(`href="${traceUrl}"`);
    expect(factsOf({ ...RUN, steps: [], pending: [] })).not.toContain('data-testid="trace"');
  });

  it('HTML in what a tool was given and returned is shown as the text that it is', () => {
    const call = { toolCallId: 'c1', toolName: 'charge', input: { note: HTML }, output: HTML };
    const step = { step: 1, agent: 'lab', prompt: HTML, text: HTML, reasoning: HTML };
    const shown = [
      show(createElement(Contents, { contents: { ...step, calls: [call] } })),
      show(questionAs(true)),
      show(questionAs(false)),
    ];
    for (const html of shown) {
      expect(html).toContain('&lt;img src=x');
      expect(html).not.toMatch(/<(img|script)\b/);
    }
  });
});

type Steps = OperatorRunDetail['steps'];
type Call = Steps[number]['calls'][number];

const call = (toolCallId: string, state: Call['state'], kind: Call['kind'] = 'server'): Call => ({
  toolCallId,
  toolName: 'charge',
  kind,
  state,
});

describe('where a run can be forked', () => {
  it('after its message, and after each step whose calls all have results', () => {
    const first = { step: 1, calls: [call('c1', 'done'), call('c2', 'denied')] };
    const steps = (...calls: Call[]): Steps => [first, { step: 2, calls }];
    expect(forkPoints({ status: 'interrupted', steps: steps(call('c3', 'failed')) })).toEqual([
      0, 1, 2,
    ]);
    for (const state of ['waiting', 'open'] as const) {
      const waiting = steps(call('c3', 'done'), call('c4', state, 'approval'));
      expect(forkPoints({ status: 'waiting_approval', steps: waiting })).toEqual([0, 1]);
    }
    const searched = steps(call('c3', 'open', 'provider'));
    expect(forkPoints({ status: 'interrupted', steps: searched })).toEqual([0, 1, 2]);
  });

  it('a completed run has nothing left to do after its last step', () => {
    const steps = [
      { step: 1, calls: [] },
      { step: 2, calls: [] },
    ];
    expect(forkPoints({ status: 'completed', steps })).toEqual([0, 1]);
    expect(forkPoints({ status: 'completed', steps: [] })).toEqual([]);
  });
});

it('nothing is decided together whose form a person has changed', () => {
  const pending = ['c1', 'c2', 'c3'].map((toolCallId) => ({
    toolCallId,
    inputHash: 'h',
    kind: 'approval',
    mayDecide: toolCallId !== 'c3',
  }));
  const sessions = [{ run: { runId: 's1:1-a' }, pending }] as unknown as OperatorWaitingSession[];
  const [first, second] = findChoices(sessions, new Set());
  expect([first?.toolCallId, second?.toolCallId]).toEqual(['c1', 'c2']);
  const changed = new Set([keyOf({ runId: 's1:1-a', toolCallId: 'c1', inputHash: 'h' })]);
  expect(findChoices(sessions, changed)).toEqual([second]);
});

it.each([
  ['for lack of a role', { missingRoles: ['approver'] }, 'This needs the role “approver”.'],
  [
    'for lack of one of several, where four eyes are needed',
    { missingRoles: ['approver', 'operator'], separateApprover: true },
    'This needs the role “approver” or “operator”. It cannot be the one who asked, nor who began the run again.',
  ],
  [
    'since it is their own doing',
    { separateApprover: true, mayWithdraw: true },
    'You have asked for this, so another person has to agree.',
  ],
  ['by the function of the tool', {}, 'Another person has to decide this.'],
] as const)('a colleague who may not decide %s reads who may', (_why, question, text) => {
  const { missingRoles, ...others } = { missingRoles: undefined, ...question };
  expect(
    describeDeciders({ ...others, ...(missingRoles && { missingRoles: [...missingRoles] }) }),
  ).toBe(text);
});

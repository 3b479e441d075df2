import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { OperatorRunDetail } from '../../protocol/operator.js';
import type { PageConfig } from '../../web/src/api-client.js';
import { Contents, RunFacts } from '../../web/src/console/run-view.js';
import { WaitingQuestion } from '../../web/src/console/waiting-question.js';

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
function show(element: ReactElement): string {
  const client = new QueryClient();
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

describe('the console', () => {
  it('a run leads to its trace if there is one', () => {
    const config = { agents: [], cards: [], roles: [] } as unknown as PageConfig;
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

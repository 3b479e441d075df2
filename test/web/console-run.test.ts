import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Contents } from '../../web/src/console/step-contents.js';
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

describe('the console', () => {
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

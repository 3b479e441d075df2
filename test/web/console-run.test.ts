import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { createTimelineFold } from '../../api/fold-timeline.js';
import type { StreamMessage } from '../../protocol/chunk.js';
import type { OperatorStep, TimelineSpan } from '../../protocol/timeline.js';
import { StepContents } from '../../web/src/console/step-contents.js';
import { Timeline } from '../../web/src/console/timeline.js';
import { WaitingQuestion } from '../../web/src/console/waiting-question.js';

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const SPAN: TimelineSpan = {
  kind: 'tool',
  runId: 's:1-a',
  agent: 'lab',
  step: 1,
  toolCallId: 'c1',
  name: 'charge',
  startedAt: 0,
  endedAt: 5,
  state: 'done',
};

/** Rendered with what the server has answered before. */
function show(element: ReactElement, step?: OperatorStep): string {
  const client = new QueryClient();
  client.setQueryData(['step', SPAN.runId, SPAN.step, SPAN.state], step);
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
    runId: SPAN.runId,
    mayExtend: false,
    isChosen: undefined,
    onChoose: () => undefined,
    onTouched: () => undefined,
    onAnswer: async () => undefined,
    onExtend: async () => undefined,
  });

describe('the console', () => {
  it('the bar of a wait is as long as from the question to its decision', () => {
    const call = { toolCallId: 'c1', toolName: 'charge' };
    const base = { agentId: 's', agentType: 'lab', step: 1 };
    const fold = createTimelineFold({ runId: 's:1-a', startedAt: 10_000, continues: false });
    const written = [
      { type: 'step_start', timestamp: 10_100 },
      { type: 'step_end', timestamp: 10_500 },
      { type: 'tool_approval_request', timestamp: 12_000, ...call },
      { type: 'run_paused', timestamp: 12_001 },
      { type: 'tool_approval_response', timestamp: 62_000, approved: true, ...call },
      { type: 'run_resumed', timestamp: 63_500, runId: 's:1-a' },
      { type: 'tool_end', timestamp: 80_000, result: 1, ...call },
    ];
    written.forEach((message, at) => {
      const chunk = { ...base, ...message } as unknown as StreamMessage;
      fold.add({ sequence: at + 1, writer: '', message: chunk });
    });
    const spans = fold.spans().map((span) => ({ ...span, runId: 's:1-a' }));
    const times = { startedAt: 10_000, endedAt: 110_000, now: 200_000 };
    const html = show(
      createElement(Timeline, { timeline: { runId: 's:1-a', ...times, spans, isWhole: true } }),
    );
    const bar = /data-kind="wait"[^>]*data-ms="(\d+)".*?left:([\d.]+)%;width:([\d.]+)%/s.exec(html);
    expect(bar?.slice(1).map(Number)).toEqual([50_000, 2, 50]);
  });

  it('a model that failed before its first word says why, and nothing else is read', () => {
    const { toolCallId: _call, name: _name, ...model } = SPAN;
    const span: TimelineSpan = {
      ...model,
      kind: 'model',
      state: 'failed',
      error: 'The provider refused the key.',
    };
    const html = show(createElement(StepContents, { span }));
    expect(html).toContain('The provider refused the key.');
    expect(html).not.toContain('Loading');
  });

  it('HTML in what a tool was given and returned is shown as the text that it is', () => {
    const call = { toolCallId: 'c1', toolName: 'charge', input: { note: HTML }, output: HTML };
    const step = { step: 1, agent: 'lab', prompt: HTML, text: HTML, reasoning: HTML };
    const { toolCallId: _call, ...model } = SPAN;
    const shown = [
      show(createElement(StepContents, { span: SPAN }), { ...step, calls: [call] }),
      show(createElement(StepContents, { span: model }), { ...step, calls: [call] }),
      show(questionAs(true)),
      show(questionAs(false)),
    ];
    for (const html of shown) {
      expect(html).toContain('&lt;img src=x');
      expect(html).not.toMatch(/<(img|script)\b/);
    }
  });
});

import type { UIStreamPart } from '../../../../ai-sdk/index.js';
import { AgUiEvents } from '../../../../extensions/fronts/ag-ui/events-of.js';

const call = { toolCallId: 'c1', toolName: 'now', dynamic: true } as const;

function argumentsOf(...deltas: string[]): unknown[] {
  const parts = [
    { type: 'tool-input-start', ...call },
    ...deltas.map((inputTextDelta) => ({ type: 'tool-input-delta', ...call, inputTextDelta })),
    { type: 'tool-input-available', ...call, input: {} },
  ] as UIStreamPart[];
  return shownOf(parts);
}

function shownOf(parts: UIStreamPart[]): unknown[] {
  const events = new AgUiEvents({ known: new Set() });
  return parts
    .flatMap((part) => events.accept(part))
    .map((event) => ('delta' in event ? event.delta : event.type));
}

describe("events of AG-UI's calls", () => {
  it('arguments of which no piece came are sent whole', () => {
    const whole = ['TOOL_CALL_START', '{}', 'TOOL_CALL_END'];
    expect(argumentsOf()).toEqual(whole);
    expect(argumentsOf('')).toEqual(whole);
    expect(argumentsOf('{', '}')).toEqual(['TOOL_CALL_START', '{', '}', 'TOOL_CALL_END']);
  });

  it('a call that is open at the end of a run ends before its step', () => {
    const parts: UIStreamPart[] = [
      { type: 'start-step' },
      { type: 'tool-input-start', ...call },
      { type: 'finish', finishReason: 'stop' },
    ];
    const ends = ['TOOL_CALL_END', 'STEP_FINISHED'];
    expect(shownOf(parts)).toEqual(['STEP_STARTED', 'TOOL_CALL_START', ...ends]);
  });
});

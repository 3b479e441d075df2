import type { AgentPage } from '../../agents/index.js';

const LONG = Array.from({ length: 60 }, (_, index) => `Sentence number ${String(index + 1)}.`);

/** First messages to click; what is sent is a script. */
export const LAB_OPENERS: AgentPage['openers'] = [
  scripted('Write slowly', [{ say: LONG.join(' '), deltas: 240, everyMs: 50 }]),
  scripted('Use a tool', [{ calls: [{ tool: 'echo', args: { value: 'hello' } }] }]),
  scripted('Ask for approval', [
    { say: 'This costs something.', calls: [{ tool: 'charge', args: { amount: 5 } }] },
  ]),
  scripted('Ask the page', [{ calls: [{ tool: 'locate', args: { question: 'Where are you?' } }] }]),
  scripted('Delegate', [
    { calls: [{ tool: 'delegate', args: { script: [{ say: 'I did it.', everyMs: 50 }] } }] },
  ]),
];

function scripted(label: string, script: object[]): { label: string; text: string } {
  return { label, text: JSON.stringify({ script }) };
}

/** A first message to click. What is shown and what is sent differ where the message is a script. */
export interface Opener {
  label: string;
  text: string;
}

function plain(text: string): Opener {
  return { label: text, text };
}

function scripted(label: string, script: object[]): Opener {
  return { label, text: JSON.stringify({ script }) };
}

const LONG = Array.from({ length: 60 }, (_, index) => `Sentence number ${String(index + 1)}.`);

const OPENERS: Record<string, Opener[]> = {
  support: [
    plain('Where is my order 1042?'),
    plain('I want a refund for order 1042.'),
    plain('My order 1042 arrived broken.'),
    plain('Can you recommend a gift for a coffee lover?'),
    plain('How long does a delivery take?'),
  ],
  lab: [
    scripted('Write slowly', [{ say: LONG.join(' '), deltas: 240, everyMs: 50 }]),
    scripted('Use a tool', [{ calls: [{ tool: 'echo', args: { value: 'hello' } }] }]),
    scripted('Ask for approval', [
      { say: 'This costs something.', calls: [{ tool: 'charge', args: { amount: 5 } }] },
    ]),
    scripted('Ask the page', [
      { calls: [{ tool: 'locate', args: { question: 'Where are you?' } }] },
    ]),
    scripted('Delegate', [
      { calls: [{ tool: 'delegate', args: { script: [{ say: 'I did it.', everyMs: 50 }] } }] },
    ]),
  ],
};

export function openersFor(agent: string): Opener[] {
  return OPENERS[agent] ?? [];
}

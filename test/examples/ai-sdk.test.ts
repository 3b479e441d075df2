import { load, openNotes, RUNNERS, useScript, type Runner } from './ai-sdk-examples.js';

// Examples from the AI SDK's documentation; only the import of the runner differs.

const runners = Object.keys(RUNNERS) as Runner[];
const { AI_SDK_DEFAULT_PROVIDER, structuredClone } = globalThis;
afterEach(() => {
  Object.assign(globalThis, { AI_SDK_DEFAULT_PROVIDER, structuredClone });
});

describe.each(runners)('an example of the AI SDK with the runner of %s', (by) => {
  it('calls tools over several steps', async () => {
    useScript('tools', by);
    const { ask } = load('tools', by);
    const tokens = expect.any(Number);
    expect(await ask('How warm is it in Rome?')).toEqual({
      text: 'It is 70 °F in Rome.',
      steps: [
        {
          called: [{ toolName: 'weather', input: { city: 'Rome' } }],
          got: [{ city: 'Rome', celsius: 21 }],
          finishReason: 'tool-calls',
          tokens,
        },
        {
          called: [{ toolName: 'toFahrenheit', input: { celsius: 21 } }],
          got: [{ fahrenheit: 70 }],
          finishReason: 'tool-calls',
          tokens,
        },
        { called: [], got: [], finishReason: 'stop', tokens },
      ],
    });
  });

  it('prepares its steps, streams its text and stops by a tool', async () => {
    useScript('agents', by);
    const { research } = load('agents', by);
    expect(await research('Why are there tides?')).toEqual({
      text: 'search required. compare,conclude. true',
      called: [['search'], ['conclude']],
    });
  });

  it('asks for approvals, and continues with the answers', async () => {
    useScript('approvals', by);
    const { tidy, removed } = load('approvals', by);
    const text = await tidy('Tidy up.', (file) => file === 'b.txt');
    expect(removed.sort()).toEqual(['a.tmp', 'b.txt']);
    expect(text).toBe('r1 json,r2 json,r3 execution-denied');
  });

  it('shows what an agent that it calls does, and gives the model its summary', async () => {
    useScript('sub-agents', by);
    const { write } = load('sub-agents', by);
    expect(await write('Write about tides.')).toEqual({
      text: 'It is known: true',
      work: ['step-start', 'tool-search', 'step-start', 'text'],
    });
  });

  it('has the tools of a server of the Model Context Protocol, without approvals', async () => {
    useScript('mcp', by);
    const { askNotes } = load('mcp', by);
    expect(await askNotes(await openNotes(), 'What is on the list?')).toBe('The note: true');
  });
});

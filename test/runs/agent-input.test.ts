import { z } from 'zod';
import { LIMITS } from '../../protocol/limits.js';
import { readInput, readState } from '../../runs/agent-input.js';
import { fakeAgent } from '../support/fake-agent.js';

const agent = (stateSchema?: z.ZodType<Record<string, unknown>>) =>
  fakeAgent('a', 'scripted', { stateSchema });

describe('the input of a program', () => {
  it('has something for the model: the own parts of a page are none', () => {
    const page = { type: 'data-form' as const, data: { field: 1 } };
    const message = (text: string) => [{ content: '', parts: [{ type: 'text', text }, page] }];
    expect(readInput(message('look') as never, {}).messages).toHaveLength(1);
    for (const empty of ['', message('')])
      expect(() => readInput(empty as never, {})).toThrow(/not valid|needs text/);
  });

  it.each([
    ['text', (text: string) => text],
    [
      'data',
      (data: string) => [
        {
          parts: [
            { type: 'text', text: 'x' },
            { type: 'data-x', data },
          ],
        },
      ],
    ],
  ])('has a message of limited bytes, not characters: %s', (_, toInput) => {
    const sent = (count: number) => readInput(toInput('é'.repeat(count)) as never, {}).messages;
    expect(sent(LIMITS.userMessageBytes / 2 - 100)).toHaveLength(1);
    expect(() => sent(LIMITS.userMessageBytes / 2)).toThrow(
      expect.objectContaining({ code: 'message_too_large' }),
    );
  });

  it('has a state of limited bytes, as JSON', () => {
    const state = (count: number) => readState(agent(), { text: 'é'.repeat(count) });
    expect(state(LIMITS.stateBytes / 2 - 100)).toHaveProperty('text');
    expect(() => state(LIMITS.stateBytes / 2)).toThrow('The state is too large.');
    const at = z.string().default('2026-11-30');
    const schema = z.object({ at: at.transform((text) => new Date(text)) });
    expect(readState(agent(schema), {})).toEqual({ at: '2026-11-30T00:00:00.000Z' });
  });
});

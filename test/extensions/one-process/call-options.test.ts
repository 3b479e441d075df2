import { tool, ToolLoopAgent as Theirs, type ModelMessage } from 'ai';
import { z } from 'zod';
import { ToolLoopAgent } from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';

const { call, asks, says } = parts;
type Model = ReturnType<typeof fakeModel>;

const tools = {
  pay: tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: ({ euros }) => ({ paid: euros }),
  }),
};
/** A schema that must not parse its own output: `level` would gain another `!`. */
const callOptionsSchema = z.object({
  tone: z.enum(['short', 'warm']).default('short'),
  level: z.string().transform((given) => `${given}!`),
});
const settingsOf = (model: Model) => ({
  model,
  tools,
  callOptionsSchema,
  instructions: 'You plan trips.',
  toolApproval: { pay: 'user-approval' } as const,
});
const ours = (model: Model, stores = createMemoryStores()) =>
  new ToolLoopAgent(
    {
      ...settingsOf(model),
      prepareCall: ({ options, ...rest }) => ({
        ...rest,
        instructions: `${rest.instructions as string} Be ${options.tone}.`,
        temperature: options.level.length / 10,
      }),
    },
    { stores },
  );
const theirs = (model: Model) =>
  new Theirs({
    ...settingsOf(model),
    prepareCall: ({ options, ...rest }) => ({
      ...rest,
      instructions: `${rest.instructions as string} Be ${options.tone}.`,
      temperature: options.level.length / 10,
    }),
  });

const asked = ({ doStreamCalls, doGenerateCalls }: Model) =>
  [...doStreamCalls, ...doGenerateCalls].map(({ prompt, temperature }) => [prompt[0], temperature]);
const PAYS = asks(call('p1', 'pay', { euros: 5 }));
const PAID = says('Paid.');
const approveIn = (content: readonly { type: string }[]): ModelMessage => ({
  role: 'tool',
  content: content.flatMap((part) =>
    'approvalId' in part
      ? [
          {
            type: 'tool-approval-response' as const,
            approvalId: String(part.approvalId),
            approved: true,
          },
        ]
      : [],
  ),
});

describe('call options of a ToolLoopAgent of this runtime', () => {
  it('reach prepareCall as in the AI SDK, for each turn its own', async () => {
    const replies = sayInTurn(says('One.'), says('Two.'));
    const [own, other] = [fakeModel(replies), fakeModel(replies)];
    const agent = ours(own);
    const calls = [
      { prompt: 'first', options: { level: 'abc', tone: 'warm' as const } },
      { prompt: 'second', options: { level: '' } as never },
    ];
    for (const each of calls) {
      await agent.generate(each);
      await (await theirs(other).stream(each)).consumeStream();
    }
    expect(asked(own)).toEqual(asked(other));
    expect(asked(own)).toEqual([
      [{ role: 'system', content: 'You plan trips. Be warm.' }, 0.4],
      [{ role: 'system', content: 'You plan trips. Be short.' }, 0.1],
    ]);
  });

  it('are those of the turn after an approval, in another process too, and no others', async () => {
    const stores = createMemoryStores();
    const options = { level: 'abc', tone: 'warm' as const };
    const first = ours(fakeModel(sayInTurn(PAYS)), stores);
    const { content, responseMessages } = await first.generate({ prompt: 'Pay.', options });
    await first.close();
    const model = fakeModel(sayInTurn(PAID));
    const second = ours(model, stores);
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Pay.' },
      ...structuredClone(responseMessages),
      approveIn(content),
    ];
    const changed = second.generate({ messages, options: { ...options, tone: 'short' } });
    await expect(changed).rejects.toMatchObject({ code: 'validation_error' });
    expect(model.doStreamCalls).toEqual([]);
    expect(await second.generate({ messages, options })).toMatchObject({ text: 'Paid.' });
    expect(asked(model)).toEqual([[{ role: 'system', content: 'You plan trips. Be warm.' }, 0.4]]);
  });

  const cycle: Record<string, unknown> = { level: 'a' };
  cycle['self'] = cycle;
  it.each([
    ['what does not fit', { level: 5 }, /options\.level/],
    ['nothing of what is required', {}, /options\.level/],
    ['no object', 'warm', /options/],
    ['a date', { level: 'a', at: new Date(0) }, /JSON/],
    ['a function', { level: 'a', log: () => undefined }, /JSON/],
    ['NaN', { level: 'a', n: NaN }, /JSON/],
    ['a cycle', cycle, /JSON/],
    ['too much', { level: 'x'.repeat(70_000) }, /too large/],
  ])('are refused before anything begins: %s', async (_what, options, why) => {
    const model = fakeModel(sayInTurn(PAID));
    const agent = ours(model);
    const call = { prompt: 'Hi.', options: options as never };
    await expect(agent.generate(call)).rejects.toThrow(why);
    await expect(agent.stream(call)).rejects.toMatchObject({ code: 'validation_error' });
    expect(model.doStreamCalls).toEqual([]);
  });

  it('are refused by an agent that would not read them', async () => {
    const agent = new ToolLoopAgent({ model: fakeModel(sayInTurn(PAID)) });
    const refused = agent.generate({ prompt: 'Hi.', options: { tone: 'warm' } } as never);
    await expect(refused).rejects.toThrow(/prepareCall/);
  });
});

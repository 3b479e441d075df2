import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineTool, type Guardrails } from '../../agents/index.js';
import type { AssistantRow, Row } from '../../protocol/rows.js';
import { createHarness, type AgentUnderTest } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { until } from '../support/until.js';
import { createLegHarness, openProcess } from '../support/leg-harness.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const { text, call, finish } = parts;
const REFUSAL = 'I cannot talk about this.';

async function open(replies: LanguageModelV4StreamPart[][], guardrails: Guardrails, more = {}) {
  const stores = await openTestStores();
  const model = fakeModel(sayInTurn(...replies));
  const { tools, ...agent } = more as Pick<AgentUnderTest, 'tools'>;
  const given = createHarness(stores, {
    model,
    ...(tools && { tools }),
    more: { guardrails, ...agent },
  });
  const says = (content: string) => given.begin({ type: 'text', text: content });
  const sessionId = given.session.id;
  return { ...given, model, says, read: () => readSession(stores, sessionId) };
}

async function readSession({ store, streamManager }: TestStores, sessionId: string) {
  const { rows = [], record } = (await store.sessions.view(sessionId)) ?? {};
  const entries = await streamManager.read(sessionId, 0, 200);
  const shown = entries.map(({ message }) => (message.type === 'text_delta' ? message.delta : ''));
  return { rows, record, shown: shown.join('') };
}

const repliesOf = (rows: readonly Row[]): AssistantRow[] =>
  rows.filter((row): row is AssistantRow => row.role === 'assistant');

const sentTo = (model: ReturnType<typeof fakeModel>, n: number): string =>
  JSON.stringify(model.doStreamCalls[n]?.prompt.filter(({ role }) => role === 'user'));

const refuseWord = (word: string) => (checked: { text: string }) =>
  checked.text.includes(word) ? { refuse: REFUSAL } : undefined;

describe('checks of the input', () => {
  it('a message that is refused reaches no model, in this turn or a later one', async () => {
    const chat = await open([[...text('Fine.'), ...finish()]], { input: [refuseWord('bomb')] });
    const first = await chat.says('a bomb');
    expect(await chat.play(first)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(chat.model.doStreamCalls).toHaveLength(0);
    const { shown, rows, record } = await chat.read();
    expect(shown).toBe(REFUSAL);
    expect(repliesOf(rows)[0]).toMatchObject({ parts: [{ type: 'text', text: REFUSAL }] });
    expect(record).toMatchObject({ finishReason: 'content-filter', status: 'completed' });
    await chat.play(await chat.says('hello'));
    expect(sentTo(chat.model, 0)).not.toContain('bomb');
    expect(sentTo(chat.model, 0)).toContain('hello');
  });

  it('a message that is rewritten reaches the model so, in each step and turn, and stays as it was', async () => {
    let asked = 0;
    const mask = ({ text: given }: { text: string }) => {
      asked += 1;
      return { rewrite: given.replace(/\d+/, '***') };
    };
    const echo = defineTool({
      name: 'echo',
      description: 'Echoes.',
      inputSchema: z.object({}),
      execute: () => 1,
    });
    const replies = [
      [...call('c1', 'echo', {}), ...finish('tool-calls')],
      [...text('One.'), ...finish()],
    ];
    const chat = await open(replies, { input: [mask] }, { tools: [echo] });
    await chat.play(await chat.says('my card is 4711'));
    await chat.play(await chat.says('thanks'));
    for (const n of [0, 1, 2]) {
      expect(sentTo(chat.model, n)).toContain('my card is ***');
      expect(sentTo(chat.model, n)).not.toContain('4711');
    }
    expect(asked).toBe(2);
    const { rows } = await chat.read();
    expect(rows[0]).toMatchObject({ parts: [{ text: 'my card is 4711' }] });
  });

  it('an attempt after the commit gets what was decided', async () => {
    let asked = 0;
    const check = () => {
      asked += 1;
      return { refuse: REFUSAL };
    };
    const chat = await open([], { input: [check] });
    const run = await chat.says('x');
    expect(await chat.step(run, 1, 1)).toMatchObject({ status: 'completed' });
    expect(await chat.step(run, 1, 2)).toMatchObject({ status: 'completed' });
    expect(asked).toBe(1);
    expect((await chat.read()).shown).toBe(REFUSAL);
  });
});

let pass: (verdict: { rewrite: string }) => void = () => undefined;

describe('checks of the output', () => {
  it('nothing is written before it was checked', async () => {
    const seen: string[] = [];
    const chat = await open([[...text('One. Two secret. Three.'), ...finish()]], {
      every: 'sentence',
      output: [
        ({ text: given, soFar }) => {
          seen.push(`${soFar}|${given}`);
          return given.includes('secret') ? { refuse: REFUSAL } : undefined;
        },
      ],
    });
    expect(await chat.play(await chat.says('go'))).toMatchObject({ status: 'completed' });
    const { shown, rows, record } = await chat.read();
    expect(seen).toEqual(['|One. ', 'One. |Two secret. ']);
    expect(shown).toBe(`One. ${REFUSAL}`);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect(record).toMatchObject({ finishReason: 'content-filter', usage: { outputTokens: 2 } });
  });

  it.each([
    ['block', ['abcdef']],
    [4, ['abcd', 'ef']],
  ] as const)('text is checked in pieces: %s', async (every, pieces) => {
    const seen: string[] = [];
    const upper = ({ text: given }: { text: string }) => {
      seen.push(given);
      return { rewrite: given.toUpperCase() };
    };
    const chat = await open([[...text('abcdef'), ...finish()]], { every, output: [upper] });
    await chat.play(await chat.says('go'));
    expect(seen).toEqual(pieces);
    const { shown, rows } = await chat.read();
    expect(shown).toBe('ABCDEF');
    expect(repliesOf(rows)[0]?.parts).toEqual([{ type: 'text', text: 'ABCDEF' }]);
  });

  it('a worker that is lost between check and commit leaves nothing of its own', async () => {
    const lost = new Promise<{ rewrite: string }>((resolve) => (pass = resolve));
    let asked = 0;
    const check = () => {
      asked += 1;
      return asked === 1 ? lost : { refuse: REFUSAL };
    };
    const reply = [...text('secret'), ...finish()];
    const chat = await open([reply, reply], { output: [check] });
    const run = await chat.says('go');
    const first = chat.step(run, 1, 1).catch(() => undefined);
    await until('the first attempt checks', () => Promise.resolve(asked === 1));
    expect(await chat.step(run, 1, 2)).toMatchObject({ status: 'completed' });
    pass({ rewrite: 'from the lost one' });
    await first;
    const { shown, rows } = await chat.read();
    expect(shown).toBe(REFUSAL);
    expect(repliesOf(rows)).toHaveLength(1);
  });

  it('a reply that is refused carries out none of its calls', async () => {
    let executed = 0;
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({}),
      execute: () => (executed += 1),
    });
    const reply = [...call('c1', 'pay', {}), ...text('secret'), ...finish('tool-calls')];
    const chat = await open([reply], { output: [refuseWord('secret')] }, { tools: [pay] });
    expect(await chat.play(await chat.says('go'))).toMatchObject({ status: 'completed' });
    expect(executed).toBe(0);
    expect(repliesOf((await chat.read()).rows)).toMatchObject([
      { parts: [{ type: 'text', text: REFUSAL }] },
    ]);
  });

  it('a reply that passes keeps its calls and their order', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({}),
      execute: () => 1,
    });
    const reply = [
      ...text('a'),
      ...call('c1', 'pay', {}),
      ...text('b', 't2'),
      ...finish('tool-calls'),
    ];
    const chat = await open([reply], { output: [() => undefined] }, { tools: [pay] });
    await chat.play(await chat.says('go'));
    const [first] = repliesOf((await chat.read()).rows);
    expect(first?.parts.map(({ type }) => type)).toEqual(['text', 'tool-call', 'text']);
  });

  it('reasoning is checked like text', async () => {
    const reasoning: LanguageModelV4StreamPart[] = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'secret' },
      { type: 'reasoning-end', id: 'r' },
    ];
    const chat = await open([[...reasoning, ...text('Hi'), ...finish()]], {
      output: [refuseWord('secret')],
    });
    await chat.play(await chat.says('go'));
    const { rows } = await chat.read();
    expect(repliesOf(rows)[0]?.parts).toMatchObject([{ type: 'text', text: REFUSAL }]);
  });
});

describe('a check that fails', () => {
  const FAULTS: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['hangs', () => new Promise(() => undefined)],
    ['returns false', () => false],
    ['returns nonsense', () => ({ refuse: 1 })],
  ];
  it.each(FAULTS)('one that %s lets nothing pass', async (_, fault) => {
    const check = fault as () => undefined;
    for (const guardrails of [{ input: [check] }, { output: [check] }]) {
      const chat = await open([[...text('secret'), ...finish()]], { ...guardrails, timeoutMs: 50 });
      expect(await chat.play(await chat.says('go'))).toMatchObject({
        kind: 'ended',
        status: 'failed',
        error: { code: 'guardrail_failed' },
      });
      const { shown, rows } = await chat.read();
      expect(shown).toBe('');
      expect(JSON.stringify(rows)).not.toContain('secret');
    }
  });

  it('an agent that owes a result fails with a code when its reply is refused', async () => {
    const chat = await open(
      [],
      { input: [() => ({ refuse: REFUSAL })] },
      {
        outputSchema: z.object({ answer: z.number() }),
      },
    );
    expect(await chat.play(await chat.says('go'))).toMatchObject({
      status: 'failed',
      error: { code: 'guardrail_refused' },
    });
    expect((await chat.read()).shown).toBe(REFUSAL);
  });
});

describe('checks in a leg', () => {
  it('a leg that is begun again after a loss shows what its last check has decided', async () => {
    let asked = 0;
    let seen: (() => void) | undefined;
    const checked = new Promise<void>((resolve) => (seen = resolve));
    const check = () => {
      asked += 1;
      seen?.();
      return asked === 1 ? new Promise<undefined>(() => undefined) : { refuse: REFUSAL };
    };
    const reply = [...text('secret'), ...finish()];
    const model = fakeModel(sayInTurn(reply, reply));
    const { begin, leg, rows, record } = createLegHarness({
      model,
      guardrails: { output: [check] },
    });
    const run = await begin();
    const lost = openProcess();
    void leg(run, lost).catch(() => undefined);
    await checked;
    await leg(run, openProcess(2));
    lost.cancel();
    expect(repliesOf(await rows(0))).toMatchObject([{ parts: [{ type: 'text', text: REFUSAL }] }]);
    expect(await record()).toMatchObject({ status: 'completed', finishReason: 'content-filter' });
  });

  it('a message that a leg refuses reaches no model', async () => {
    const model = fakeModel(sayInTurn());
    const input = [() => ({ refuse: REFUSAL })];
    const { begin, leg, rows } = createLegHarness({ model, guardrails: { input } });
    await leg(await begin());
    expect(model.doStreamCalls).toHaveLength(0);
    expect(repliesOf(await rows(0))).toMatchObject([{ parts: [{ type: 'text', text: REFUSAL }] }]);
  });
});

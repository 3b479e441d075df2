import { pruneMessages, type LanguageModelMiddleware } from 'ai';
import { createLongConversationAgent } from '../../examples/long-conversation/agent.js';
import type { PrepareStep, PrepareStepOptions } from '../../agents/index.js';
import { prepareMessages } from '../../activities/model/prepare-messages.js';
import { toMessages } from '../../activities/model/prompt.js';
import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';
import { createHarness, openHarness } from '../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../support/fake-model.js';
import { changing } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';
import { SHAPES } from './serve-agent.js';

const { says } = parts;
const place = { sessionId: 's', runId: 's:1-x', step: 1, state: {} };
const compaction = { kept: undefined, keep: () => Promise.resolve(undefined) };
const context = { instructions: '', messageMetadata: undefined, compaction };
const scope = { ...place, ...context, steps: [], initial: 0 };
const never = new AbortController().signal;

/** A conversation of `turns` turns, each with a call and its result. */
function conversation(turns: number): Row[] {
  return Array.from({ length: turns }, (_, n): Row[] => {
    const toolCallId = `c${String(n)}`;
    const call = {
      type: 'tool-call' as const,
      toolCallId,
      toolName: 't',
      input: {},
      kind: 'server' as const,
    };
    const reply = { role: 'assistant' as const, messageId: 'm', runId: 'r', step: 1 };
    return [
      {
        role: 'user',
        id: `u${String(n)}`,
        parts: [{ type: 'text', text: `question ${String(n)}` }],
      },
      { ...reply, parts: [call] },
      { role: 'tool', toolCallId, toolName: 't', output: n },
      { ...reply, parts: [{ type: 'text', text: `answer ${String(n)}` }] },
    ];
  }).flat();
}

function prepare(rows: Row[], prepareStep: PrepareStep) {
  const agent = { ...createLongConversationAgent(fakeModel(sayInTurn())), prepareStep };
  return prepareMessages(agent, toMessages(rows).messages, scope, never).then(
    ({ messages }) => messages,
  );
}

const idsIn = (messages: readonly { content: unknown }[]): string[] =>
  messages
    .flatMap(
      ({ content }) =>
        (Array.isArray(content) ? content : []) as { toolCallId?: string; type: string }[],
    )
    .flatMap(({ type, toolCallId }) => (toolCallId === undefined ? [] : [`${type} ${toolCallId}`]));

describe.each(SHAPES)('prepareStep%s', (_suffix, shape) => {
  it('prepareStep selects the messages of the model, and changes nothing that is stored', async () => {
    const asked: PrepareStepOptions[] = [];
    const model = fakeModel(sayInTurn(says('one'), says('two')));
    const prepareStep: PrepareStep = (options) => {
      asked.push(options);
      return { messages: [{ role: 'user', content: 'only this' }] };
    };
    const stores = await openTestStores();
    const given = createHarness(stores, {
      model,
      systemPrompt: 'Be brief.',
      more: { prepareStep, ...shape },
    });
    await given.play(await given.begin());
    const run = await given.begin();
    await given.play(run);
    expect(asked.map(({ messages, ...rest }) => [messages.length, rest])).toMatchObject([
      [1, { step: 1 }],
      [3, { step: 1, sessionId: given.session.id, runId: run.runId, state: {} }],
    ]);
    expect(model.doStreamCalls[1]?.prompt).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'only this' }] },
    ]);
    expect(await stores.store.sessions.rows(given.session.id, 0)).toHaveLength(4);
  });
});

describe('prepareStep', () => {
  it('gets the model with the middleware of its agent, which is put around it once', async () => {
    let asked = 0;
    const transformParams: LanguageModelMiddleware['transformParams'] = ({ params }) => {
      asked += 1;
      return Promise.resolve(params);
    };
    const model = fakeModel(sayInTurn(says('one')));
    const given: unknown[] = [];
    const prepareStep: PrepareStep = (options) => {
      given.push(options.model);
      return { model: options.model };
    };
    const more = { prepareStep, middleware: [{ transformParams }] };
    const harness = createHarness(await openTestStores(), { model, more });
    await harness.play(await harness.begin());
    expect(asked).toBe(1);
    expect(given).toEqual([expect.not.objectContaining({ doStreamCalls: expect.anything() })]);
  });

  it('that prunes tells 200 messages of 1,000 rows and no half calls', async () => {
    const prepareStep: PrepareStep = ({ messages }) => ({
      messages: pruneMessages({
        messages: messages.slice(-200),
        toolCalls: 'before-last-20-messages',
      }),
    });
    const rows = conversation(250);
    expect(rows).toHaveLength(1_000);
    const kept = await prepare(rows, prepareStep);
    expect(kept.length).toBeLessThanOrEqual(200);
    expect(kept[0]).toMatchObject({ role: 'user' });
    expect(JSON.stringify(kept)).toContain('answer 249');
    expect(JSON.stringify(kept)).not.toContain('answer 100"');
    const ids = idsIn(kept);
    expect(ids).toHaveLength(10);
    expect(ids.filter((id) => id.startsWith('tool-call')).map((id) => id.slice(10))).toEqual(
      ids.filter((id) => id.startsWith('tool-result')).map((id) => id.slice(12)),
    );
  });

  it('prepareStep leaves out calls and results that it separated', async () => {
    const rows = conversation(3);
    const kept = await prepare(rows, ({ messages }) => ({
      // Without the call of the first turn, the result of the second, and with one call and result twice.
      messages: [0, 2, 3, 4, 5, 7, 8, 9, 9, 10, 11, 10].flatMap((at) => messages[at] ?? []),
    }));
    expect(idsIn(kept)).toEqual(['tool-call c2', 'tool-result c2']);
    expect(kept.filter(({ content }) => content.length === 0)).toEqual([]);
  });

  it('a store that fails beneath a summary fails the attempt, not the run', async () => {
    const stores = await openTestStores();
    const compact = () => Promise.reject(new HelixError('unavailable', 'The store is away.'));
    const store = changing(stores.store, (changes) => ({
      ...changes,
      steps: { ...changes.steps, compact },
    }));
    const prepareStep: PrepareStep = async (options) => {
      await options.compaction.keep(() => ({ messages: 1, summary: 'notes' }), 1_000);
      return {};
    };
    const agent = { model: fakeModel(sayInTurn(says('one'))), more: { prepareStep } };
    const given = createHarness({ ...stores, store }, agent);
    const run = await given.begin();
    await expect(given.step(run, 1)).rejects.toThrow('The store is away.');
    expect(await given.record()).toMatchObject({ status: 'running' });
  });

  it('a prepareStep that changes nothing returns nothing', async () => {
    const rows = conversation(2);
    expect(await prepare(rows, () => undefined)).toEqual(toMessages(rows).messages);
    expect(await prepare(rows, ({ messages }) => ({ messages }))).toEqual(
      toMessages(rows).messages,
    );
  });

  it('prepareStep may return messages of the AI SDK in any form, and no file is fetched', async () => {
    const url = 'https://files.example/a.png';
    const kept = await prepare(conversation(1), () => ({
      messages: [
        { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: new URL(url) }] },
        { role: 'assistant', content: 'I see.' },
      ],
    }));
    expect(kept).toMatchObject([
      { role: 'user', content: [{ type: 'file', mediaType: 'image/png' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] },
    ]);
  });

  it.each([
    [{ toolsContext: {} }, '"toolsContext" (use the services of the worker'],
    [{ stopWhen: [] }, '"stopWhen" (use stopWhen of the agent)'],
    [{ headers: {} }, '"headers"'],
    [{ temperature: 'hot' }, 'temperature must be a number'],
    [{ activeTools: 'all' }, 'activeTools must be a list of names of tools'],
    [{ system: 5, instructions: 'x' }, 'system must be a string, or system messages'],
  ])('prepareStep may not return what would have no effect: %j', async (returned, why) => {
    const asked = prepare(conversation(1), () => returned as never);
    await expect(asked).rejects.toMatchObject({ cause: { message: expect.stringContaining(why) } });
    const unset = Object.fromEntries(Object.keys(returned).map((field) => [field, undefined]));
    expect(await prepare(conversation(1), () => unset)).toHaveLength(4);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['leaves nothing', () => ({ messages: [] })],
    ['gives no messages', () => ({ messages: 'all' as never })],
  ] as [string, PrepareStep][])(
    'a prepareStep that %s ends the run with a typed failure',
    async (_, prepareStep) => {
      const given = await openHarness(sayInTurn(), { more: { prepareStep } });
      const outcome = await given.step(await given.begin(), 1);
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'context_hook_failed' } });
      expect(JSON.stringify([outcome, await given.session.log()])).not.toContain('secret');
      expect(given.model.doStreamCalls).toHaveLength(0);
    },
  );
});

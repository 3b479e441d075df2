import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { tool } from 'ai';
import fc from 'fast-check';
import { z } from 'zod';
import { toAcceptable } from '../../activities/model/acceptable-prompt.js';
import { toModelCall } from '../../activities/model/call-options.js';
import type { ClaimedStep } from '../../activities/model/middleware.js';
import { defineAgent } from '../../agents/index.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { AssistantPart, AssistantRow, Row, ToolRow, UserPart } from '../../protocol/rows.js';
import { STRICT, strictModel, type Known, type StrictName } from '../support/strict-providers.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk';

/** A tool that shows the model pictures and files, and words of any kind. */
const draw = tool({
  inputSchema: z.object({}),
  execute: (): unknown => null,
  toModelOutput: ({ output }) => ({
    type: 'content',
    value: (output as { text?: string; mediaType?: string }[]).map(({ text, mediaType = '' }) =>
      text === undefined
        ? { type: 'file' as const, mediaType, data: { type: 'data' as const, data: PNG } }
        : { type: 'text' as const, text },
    ),
  }),
});

/** What the model is asked after these rows. */
async function promptOf(name: StrictName, rows: readonly Row[], known: Known) {
  const model = strictModel(name, known);
  const agent = defineAgent({
    name: 'a',
    systemPrompt: 'Be brief.',
    tools: { draw },
    llmConfig: { model },
  });
  const ref = { sessionId: 's', runId: 'r', agent: 'a', turn: 1, step: 1, maxSteps: 9, known: 0 };
  const { signal } = new AbortController();
  const claim = { messageId: 'm', waits: 0 };
  const progress = { failures: 0 };
  const step = { agent, rows, claim, progress, attempt: { number: 1, signal } };
  const request = { ref, choice: agent.llmConfig, turn: { index: 0, before: 0 } };
  const call = await toModelCall(step as unknown as ClaimedStep, request);
  return { model, options: call.options };
}

/** @throws what the provider says */
async function askStrictly(name: StrictName, rows: readonly Row[], known: Known): Promise<void> {
  const { model, options } = await promptOf(name, rows, known);
  const { stream } = await model.doStream(options);
  await stream.cancel();
}

it('a prompt without the beginning of its conversation begins with a message of the user', () => {
  const reply = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Hi.' }] };
  const question = { ...reply, role: 'user' as const };
  const model = { provider: 'openai.responses', modelId: 'gpt-5' };
  const asked = { model, tools: [], isForeign: () => false };
  const [first, ...rest] = toAcceptable([reply, question], asked);
  expect(first).toMatchObject({ role: 'user', providerOptions: { helix: { internal: true } } });
  expect(rest).toEqual([reply, question]);
  expect(toAcceptable([question], asked)).toEqual([question]);
});

// ---- rows as a conversation can have them

const MODELS: Record<StrictName, { provider: string; modelId: string }> = {
  openai: { provider: 'openai.responses', modelId: 'gpt-5' },
  chat: { provider: 'openai.chat', modelId: 'gpt-4o' },
  anthropic: { provider: 'anthropic.messages', modelId: 'claude-opus-4-6' },
  google: { provider: 'google.generative-ai', modelId: 'gemini-2.5-flash' },
  gemini3: { provider: 'google.generative-ai', modelId: 'gemini-3-pro-preview' },
};
const NAMES = Object.keys(STRICT) as StrictName[];

const someText = fc.constantFrom('Hello.', '', ' \n', 'ok ', '😀');
const someType = fc.constantFrom(
  'image/png',
  'image/jpg',
  'image/gif',
  'application/pdf',
  'text/csv',
  'text/plain',
  'application/zip',
  'video/mp4',
  'application/json',
  '',
  'IMAGE/PNG',
  'nonsense',
);
const someFile = fc.record({
  type: fc.constant('file' as const),
  mediaType: someType,
  url: fc.constantFrom(
    `data:image/png;base64,${PNG}`,
    'data:;base64,aGk=',
    'data:text/csv,a%2Cb',
    'data:,%',
    'data:;base64,',
    'https://files.example/a',
    'nonsense',
    'data:',
  ),
});
const someUserPart: fc.Arbitrary<UserPart> = fc.oneof(
  someText.map((text): UserPart => ({ type: 'text', text })),
  someFile,
);
const someOutput = fc.oneof(
  fc.constantFrom<unknown>('fine', '', null, { $ref: '#/a' }, [1], 0),
  fc.array(fc.oneof(fc.record({ text: someText }), fc.record({ mediaType: someType })), {
    maxLength: 3,
  }),
);
const someCall = fc.record({
  name: fc.constantFrom('draw', 'my tool!', '1st', 'ns.draw', 'n'.repeat(200), 'unnamed', 'ünï'),
  id: fc.constantFrom('call_1', 'functions.draw:0', 'x'.repeat(90), 'toolu_1', '?', 'abc_1'),
  input: fc.constantFrom<unknown>({}, { a: 1 }, '{"a', [1], null, 7, ''),
  result: fc.oneof(
    someOutput.map((output): Partial<ToolRow> => ({ output })),
    fc.constantFrom<Partial<ToolRow>>({ error: '' }, { error: 'no' }, { denied: true }),
  ),
});
const someStep = fc.record({
  by: fc.constantFrom(...NAMES),
  thinks: fc.constantFrom('no', 'first', 'last', 'empty'),
  text: fc.option(someText, { nil: undefined }),
  search: fc.constantFrom('no', 'answered', 'open', 'refused'),
  calls: fc.array(someCall, { maxLength: 3 }),
  ends: fc.constantFrom(undefined, undefined, undefined, 'interrupt', 'abort', 'failure'),
  refused: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    'prompt_file_refused',
    'provider_invalid_request',
  ),
});
const someTurn = fc.record({
  user: fc.array(someUserPart, { minLength: 1, maxLength: 3 }),
  steps: fc.array(someStep, { maxLength: 4 }),
});
const someConversation = fc.record({
  turns: fc.array(someTurn, { minLength: 1, maxLength: 4 }),
  /** A new question, a step behind results, or the resumption of what was cut. */
  last: fc.option(fc.array(someUserPart, { minLength: 1, maxLength: 2 }), { nil: undefined }),
});

interface Made {
  rows: Row[];
  known: Record<StrictName, { items: Map<string, string[]>; signatures: Set<string> }>;
}

function toRows({
  turns,
  last,
}: typeof someConversation extends fc.Arbitrary<infer C> ? C : never): Made {
  const none = () => ({ items: new Map<string, string[]>(), signatures: new Set<string>() });
  const known = {
    openai: none(),
    chat: none(),
    anthropic: none(),
    google: none(),
    gemini3: none(),
  };
  const rows: Row[] = [];
  let n = 0;
  const ids = new Set<string>();
  const uniqueId = (id: string): string => {
    let unique = id;
    for (let i = 1; ids.has(unique); i += 1) unique = `${id}_${String(i)}`;
    ids.add(unique);
    return unique;
  };
  for (const [turn, { user, steps }] of turns.entries()) {
    rows.push({ role: 'user', id: `u${String(turn)}`, parts: user });
    for (const [at, step] of steps.entries()) {
      n += 1;
      const isLast = at === steps.length - 1;
      const about = {
        role: 'assistant',
        messageId: `msg-${String(turn)}`,
        runId: 'r',
        step: n,
      } as const;
      if (step.refused !== undefined && isLast) {
        rows.push({
          ...about,
          parts: [],
          display: true,
          interrupted: 'failure',
          refused: step.refused,
        });
        continue;
      }
      const { parts, results } = toParts(step, String(n), uniqueId);
      const row: AssistantRow = { ...about, parts, model: MODELS[step.by], interrupted: step.ends };
      rows.push(row, ...results);
      // Nothing follows a step without calls, unless it was cut and is resumed.
      learn(known[step.by], step.by, row);
      if (step.ends === undefined && results.length === 0) break;
    }
  }
  if (last !== undefined) rows.push({ role: 'user', id: 'last', parts: last });
  return { rows, known };
}

type SomeStep = typeof someStep extends fc.Arbitrary<infer S> ? S : never;

function toParts(step: SomeStep, n: string, uniqueId: (id: string) => string) {
  const { by, thinks, text, search, calls, ends } = step;
  const mark = (id: string): Pick<AssistantPart & { type: 'text' }, 'providerMetadata'> => {
    if (by === 'openai') return { providerMetadata: { openai: { itemId: id } } };
    if (by === 'google' || by === 'gemini3') {
      return { providerMetadata: { google: { thoughtSignature: `gs_${id}` } } };
    }
    return {};
  };
  const thoughtMark =
    by === 'anthropic'
      ? { providerMetadata: { anthropic: { signature: `sig_${n}` } } }
      : mark(`rs_${n}`);
  const isBare = by === 'chat';
  const thought: AssistantPart = {
    type: 'reasoning',
    text: thinks === 'empty' ? '' : 'hm',
    ...thoughtMark,
  };
  const parts: AssistantPart[] = [];
  const results: ToolRow[] = [];
  if ((thinks === 'first' || thinks === 'empty') && !isBare) parts.push(thought);
  if (search !== 'no' && !isBare) parts.push(...searchBy(by, n, search, ends !== undefined));
  if (text !== undefined) parts.push({ type: 'text', text, ...mark(`msg_${n}`) });
  for (const [i, call] of calls.entries()) {
    const toolCallId = uniqueId(by === 'openai' ? `call_${n}_${String(i)}` : call.id);
    const toolName = call.name;
    const input = call.input;
    parts.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
      kind: 'server',
      ...mark(`fc_${n}_${String(i)}`),
    });
    const result =
      toolName === 'draw' && !Array.isArray(call.result.output) ? { output: [] } : call.result;
    results.push({ role: 'tool', toolCallId, toolName, ...result });
  }
  // Cut off by its length.
  if (thinks === 'last' && !isBare) parts.push(thought);
  return { parts, results };
}

function searchBy(by: StrictName, n: string, how: string, isCut: boolean): AssistantPart[] {
  const id = by === 'anthropic' ? `srvtoolu_${n}` : `ws_${n}`;
  const isGoogle = by === 'google' || by === 'gemini3';
  const toolName = isGoogle ? 'code_execution' : 'web_search';
  const input = isGoogle ? { language: 'PYTHON', code: '1' } : { query: 'x' };
  const found = {
    url: 'https://a.b',
    title: 't',
    pageAge: null,
    encryptedContent: 'E',
    type: 'web_search_result',
  };
  const output = isGoogle
    ? { outcome: 'OUTCOME_OK', output: '1' }
    : by === 'anthropic'
      ? [found]
      : { action: { type: 'search', query: 'x' } };
  const call: AssistantPart = {
    type: 'tool-call',
    toolCallId: id,
    toolName,
    input,
    kind: 'provider',
  };
  // OpenAI and Google answer within the reply.
  if (how === 'open' && (by === 'anthropic' || isCut)) return [call];
  const result = { type: 'tool-result', toolCallId: id, toolName } as const;
  return how === 'refused' && by === 'anthropic'
    ? [call, { ...result, output: { errorCode: 'unavailable' }, isError: true }]
    : [call, { ...result, output }];
}

/** What the provider keeps of a response that was completed. */
function learn(
  { items, signatures }: { items: Map<string, string[]>; signatures: Set<string> },
  by: StrictName,
  { parts, interrupted }: AssistantRow,
): void {
  if (interrupted !== undefined) return;
  const ids = parts.flatMap((part): string[] => {
    if (part.type === 'tool-result') return [part.toolCallId];
    if (!('providerMetadata' in part)) return [];
    const { openai, anthropic, google } = part.providerMetadata ?? {};
    for (const signature of [anthropic?.['signature'], google?.['thoughtSignature']]) {
      if (typeof signature === 'string') signatures.add(signature);
    }
    // A call of ours is sent by its own id.
    if (part.type === 'tool-call' && part.kind !== 'provider') return [part.toolCallId];
    return typeof openai?.['itemId'] === 'string' ? [openai['itemId']] : [];
  });
  if (by === 'openai') for (const id of ids) items.set(id, ids);
}

it.each(NAMES)('a prompt made of any rows is one that %s takes', async (name) => {
  await fc.assert(
    fc.asyncProperty(someConversation, async (conversation) => {
      const { rows, known } = toRows(conversation);
      await askStrictly(name, rows, known[name]);
    }),
    { numRuns: 100 },
  );
});

describe('what of a prompt depends on the provider', () => {
  const accept = (provider: string, modelId: string, prompt: LanguageModelV4Prompt) => {
    const isForeign = (): boolean => false;
    return toAcceptable(prompt, { model: { provider, modelId }, tools: [], isForeign });
  };
  const data = { type: 'data' as const, data: PNG };
  const sent = (mediaType: string): LanguageModelV4Prompt => [
    { role: 'user', content: [{ type: 'file', mediaType, filename: 'a', data }] },
  ];

  it.each([
    ['anthropic.messages', 'claude-opus-4-6', 'application/msword', false],
    ['amazon-bedrock', 'anthropic.claude-opus-4-6', 'application/msword', true],
    ['gateway', 'anthropic/claude-opus-4-6', 'application/msword', false],
    ['google.generative-ai', 'gemini-3-pro', 'video/mp4', true],
    ['google.generative-ai', 'gemini-3-pro', 'image/gif', false],
    ['openai.responses', 'gpt-5', 'video/mp4', false],
    ['mine', 'mine', 'video/mp4', true],
    ['mine', 'mine', '', false],
  ])('a file for %s, %s of the type "%s" is given as it is: %s', (provider, id, type, isGiven) => {
    const [message] = accept(provider, id, sent(type));
    const content = isGiven
      ? { type: 'file' }
      : { text: expect.stringContaining('"a"') as unknown };
    expect(message?.content).toMatchObject([content]);
  });

  it.each([
    ['mistral.chat', /^[a-z0-9]{9}$/],
    ['anthropic.messages', /^call_[a-f0-9]{32}$/],
    ['moonshot.chat', /^functions\.find:0$/],
  ])('an id of a call for %s has its form, behind call and result alike', (provider, form) => {
    const made = { toolCallId: 'functions.find:0', toolName: 'find' };
    const output = { type: 'text' as const, value: 'yes' };
    const [, call, result] = accept(provider, 'm', [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'tool-call', ...made, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...made, output }] },
    ]);
    const ids = [call, result].map((each) => JSON.stringify(each));
    const id = /"toolCallId":"([^"]+)"/.exec(ids[0] ?? '')?.[1] ?? '';
    expect(id).toMatch(form);
    expect(ids[1]).toContain(id);
  });

  it('between two replies stands what the model was asked for in between', () => {
    const says = (text: string): LanguageModelV4Prompt[number] => ({
      role: 'assistant',
      content: [{ type: 'text', text }],
    });
    const call = { toolCallId: 'c', toolName: FINISH_TOOL_NAME };
    const output = { type: 'text' as const, value: 'yes' };
    const given = accept('m', 'm', [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      says('Part one'),
      says('and two.'),
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ]);
    const asked = given.filter(({ role }) => role === 'user').slice(1);
    expect(asked).toMatchObject([
      { content: [{ text: expect.stringContaining('Go on') as unknown }] },
      { content: [{ text: expect.stringContaining(FINISH_TOOL_NAME) as unknown }] },
    ]);
  });

  it('results that stand apart from their calls are put behind them', () => {
    const call = (toolCallId: string) => ({ toolCallId, toolName: 'find' });
    const output = { type: 'text' as const, value: 'yes' };
    const asks = (id: string): LanguageModelV4Prompt[number] => ({
      role: 'assistant',
      content: [{ type: 'tool-call', ...call(id), input: {} }],
    });
    const user: LanguageModelV4Prompt[number] = {
      role: 'user',
      content: [{ type: 'text', text: 'go' }],
    };
    const results = ['b', 'a'].map((id) => ({ type: 'tool-result' as const, ...call(id), output }));
    const given = accept('m', 'm', [
      user,
      asks('a'),
      asks('b'),
      { role: 'tool', content: results },
    ]);
    expect(given.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(given[2]).toMatchObject({ content: [{ toolCallId: 'a' }] });
  });
});

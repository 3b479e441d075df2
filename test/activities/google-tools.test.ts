import { createGoogle } from '@ai-sdk/google';
import type { ToolSet } from 'ai';
import { createHarness } from '../support/activity-harness.js';
import { openTestStores } from '../support/test-stores.js';
import { speakTwice } from './compare-prompts.js';
import { expectSameOnPages } from './same-on-pages.js';
import { SHAPES } from './serve-agent.js';
import { fakeAgent } from '../support/fake-agent.js';

type Piece = Record<string, unknown>;

interface Asked {
  contents: { role: string; parts: Piece[] }[];
}

/** A request whose texts of one message stand at the place of the first. */
function withJoinedTexts(asked: unknown): unknown {
  const { contents, ...rest } = asked as Asked;
  const joined = contents.map(({ role, parts }) => {
    const texts = parts.filter(({ text }) => text !== undefined);
    const text = texts.map((part) => String(part['text'])).join('');
    const others = parts.filter((part) => !texts.includes(part));
    return { role, text, others };
  });
  return { ...rest, contents: joined };
}

const code = [
  { text: 'I count. ' },
  { executableCode: { language: 'PYTHON', code: 'print(2 + 2)' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '4\n' } },
  { text: 'It is 4.' },
];
const search = [{ text: 'It rains.' }];
const grounding = {
  webSearchQueries: ['rain'],
  groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
};
const byServer = [
  { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: { queries: ['rain'] }, id: 's1' } },
  {
    toolResponse: {
      toolType: 'GOOGLE_SEARCH_WEB',
      response: { search_suggestions: 'x' },
      id: 's1',
    },
  },
  { text: 'It rains.' },
];

/** Google's provider itself, before a server that gives these replies in turn. */
function googleOf(...replies: { parts: Piece[]; more?: Piece }[]) {
  const asked: unknown[] = [];
  let ids = 0;
  const google = createGoogle({
    apiKey: 'key',
    generateId: () => {
      ids += 1;
      return `g${String(ids)}`;
    },
    fetch: (_url, init) => {
      const { parts, more } = replies[asked.length % replies.length] ?? { parts: [] };
      asked.push(JSON.parse(init?.body as string));
      const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
      const events = parts.map((part, at) => ({
        candidates: [
          {
            content: { role: 'model', parts: [part] },
            ...(at === parts.length - 1 && { finishReason: 'STOP', ...more }),
          },
        ],
        usageMetadata,
      }));
      const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(body, { headers }));
    },
  });
  const tools = {
    google_search: google.tools.googleSearch({}),
    code_execution: google.tools.codeExecution({}),
    url_context: google.tools.urlContext({}),
  } as unknown as ToolSet;
  return { asked, model: google('gemini-2.5-flash'), tools };
}

const conversations: [string, { parts: Piece[]; more?: Piece }[], string[]][] = [
  ['code that the model has run', [{ parts: code }], ['text', 'dynamic-tool', 'text']],
  [
    'a search with sources, and an address that was read',
    [
      {
        parts: search,
        more: {
          groundingMetadata: grounding,
          urlContextMetadata: {
            urlMetadata: [
              {
                retrievedUrl: 'https://a.example',
                urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS',
              },
            ],
          },
        },
      },
    ],
    ['source-url', 'text'],
  ],
  [
    'a tool of its servers that the agent does not name',
    [{ parts: byServer }],
    ['dynamic-tool', 'text'],
  ],
];

describe.each(SHAPES)('tools that Google executes%s', (_suffix, shape) => {
  it.each(conversations)(
    'are asked and sent back as by streamText: %s',
    async (_name, replies, kinds) => {
      const theirs = googleOf(...replies);
      await speakTwice(theirs);

      const ours = googleOf(...replies);
      const { tools } = fakeAgent('searches', ours.model, { tools: ours.tools });
      const agent = { model: ours.model, tools, more: shape };
      const harness = createHarness(await openTestStores(), agent);
      await harness.play(await harness.begin());
      const shown = await expectSameOnPages(harness);
      const types = shown.parts.map(({ type }) => type).filter((type) => type !== 'step-start');
      expect(types).toEqual(kinds);
      await harness.play(await harness.begin({ type: 'text', text: 'more' }));
      expect(ours.asked).toHaveLength(2);
      expect(ours.asked.map(withJoinedTexts)).toEqual(theirs.asked.map(withJoinedTexts));
      // Text that follows code stays behind it, where Google wrote it; streamText puts it before.
      const sent = replies[0]?.parts ?? [];
      expect((ours.asked[1] as Asked).contents[1]?.parts).toMatchObject(sent);
    },
  );
});

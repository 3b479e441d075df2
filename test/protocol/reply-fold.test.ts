import { createReplyFold, isShownUrl, toShownResult } from '../../protocol/reply-fold.js';
import type { AssistantPart } from '../../protocol/rows.js';
import type { Bare } from '../support/fake-call.js';

const call = { toolCallId: 'c1', toolName: 'echo' };
const text = (delta: string): Bare => ({ type: 'text_delta', delta });
const source = { sourceId: 's', title: 'A source' };

function fold(...bare: Bare[]): AssistantPart[] {
  const { parts, accept } = createReplyFold();
  const base = { agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };
  for (const chunk of bare) accept({ ...chunk, ...base });
  return parts;
}

it.each<Bare>([
  { type: 'tool_arg_stream_start', ...call },
  { type: 'tool_start', ...call, arguments: {} },
  { type: 'tool_approval_request', ...call, approvalId: 'r::c1', input: {} },
  { type: 'tool_input_error', ...call, error: 'no JSON' },
])('text behind a call is another block: $type', (opening) => {
  const kinds = fold(text('a'), opening, text('b')).map((part) =>
    part.type === 'text' ? part.text : part.type,
  );
  expect(kinds).toEqual(['a', 'tool-call', 'b']);
});

it('text behind a source continues its block, and the source keeps what pages show of it', () => {
  const parts = fold(
    text('a'),
    { type: 'source_url', ...source, url: 'https://a.test' },
    { type: 'source_document', ...source, mediaType: 'text/plain', filename: 'a.txt' },
    text('b'),
  );
  expect(parts).toEqual([
    { type: 'text', text: 'ab' },
    { type: 'source-url', ...source, url: 'https://a.test' },
    { type: 'source-document', ...source, mediaType: 'text/plain', filename: 'a.txt' },
  ]);
});

it.each<Bare>([
  { type: 'tool_start', ...call, arguments: {}, providerMetadata: { acme: { id: 'x' } } },
  {
    ...{ type: 'tool_approval_request', ...call, approvalId: 'r::c1', input: {} },
    providerMetadata: { acme: { id: 'x' } },
  },
])('a call keeps what its provider says of it: $type', (opening) => {
  expect(fold(opening)).toMatchObject([{ providerMetadata: { acme: { id: 'x' } } }]);
});

it("people see the start of a provider's long error, cut between two characters", () => {
  const { error } = toShownResult({ output: `a${'🙂'.repeat(2_000)}`, isError: true });
  expect(error).toBe(`a${'🙂'.repeat(1_023)}`);
});

it.each([
  ['its provider', { byProvider: true as const }, ['tool-call', 'tool-result']],
  ['its tool', {}, ['tool-call']],
])('the result of a call by %s stands in the reply as well: %j', (_, by, expected) => {
  const end = { type: 'tool_end' as const, ...call, result: 1, ...by };
  const parts = fold({ type: 'tool_start', ...call, arguments: {} }, end);
  expect(parts.map(({ type }) => type)).toEqual(expected);
});

it.each([
  ['https://a.test', true, true],
  ['data:text/html,x', true, false],
  ['javascript:alert(1)', false, false],
  ['/path', false, false],
])('the address %s may be shown of a file: %s, of a source: %s', (url, ofFile, ofSource) => {
  expect([isShownUrl('file', url), isShownUrl('source_url', url)]).toEqual([ofFile, ofSource]);
});

import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';

/** Models of the providers' own packages over a function that enforces their API's rules. */

/** Items that a provider has produced and therefore knows: item ids and signatures of thoughts. */
export interface Known {
  /** Items of completed responses: each id maps to its response's items, in order. */
  items: ReadonlyMap<string, readonly string[]>;
  signatures: ReadonlySet<string>;
}

type Json = Record<string, unknown>;
type Judge = (body: Json, known: Known, modelId: string) => string | undefined;
type Create = (fetch: typeof globalThis.fetch) => LanguageModelV4;

export const STRICT = {
  openai: [judgeOpenAI, (fetch) => createOpenAI({ apiKey: 'x', fetch })('gpt-5')],
  chat: [judgeChat, (fetch) => createOpenAI({ apiKey: 'x', fetch }).chat('gpt-4o')],
  anthropic: [
    judgeAnthropic,
    (fetch) => createAnthropic({ apiKey: 'x', fetch })('claude-opus-4-6'),
  ],
  google: [judgeGoogle, (fetch) => createGoogle({ apiKey: 'x', fetch })('gemini-2.5-flash')],
  gemini3: [judgeGoogle, (fetch) => createGoogle({ apiKey: 'x', fetch })('gemini-3-pro-preview')],
} satisfies Record<string, [Judge, Create]>;
export type StrictName = keyof typeof STRICT;

export function strictModel(name: StrictName, known: Known): LanguageModelV4 {
  const [judge, create] = STRICT[name] as [Judge, Create];
  return create((_url, init) => {
    const body = JSON.parse(words(init?.body)) as Json;
    const fault = judge(body, known, name);
    const error = { type: 'invalid_request_error', message: fault, code: 400, status: 'INVALID' };
    return Promise.resolve(
      fault === undefined
        ? new Response('', { headers: { 'content-type': 'text/event-stream' } })
        : Response.json({ type: 'error', error }, { status: 400 }),
    );
  });
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const words = (value: unknown): string => (typeof value === 'string' ? value : '');
const isBlank = (value: unknown): boolean => words(value).trim() === '';
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const PICTURE = /^image\/(png|jpeg|gif|webp)$/;

function first<T>(items: readonly T[], judge: (item: T, at: number) => string | undefined) {
  for (const [at, item] of items.entries()) {
    const fault = judge(item, at);
    if (fault !== undefined) return `${fault} at ${String(at)}: ${JSON.stringify(item)}`;
  }
  return undefined;
}

function isDataOf(url: unknown, types: RegExp): boolean {
  const [, type = '', data = ''] = /^data:([^;,]*);base64,(.*)$/s.exec(words(url)) ?? [];
  return types.test(type) && data !== '';
}

function judgeOpenAI(body: Json, { items }: Known): string | undefined {
  const input = list(body['input']);
  const ids = new Set<string>();
  const calls = new Set<string>();
  const outputs = new Set(
    input.flatMap((item) =>
      item['type'] === 'function_call_output' ? [words(item['call_id'])] : [],
    ),
  );
  const fault = first(input, (item, at) => {
    switch (item['type']) {
      case 'item_reference': {
        const id = words(item['id']);
        const response = items.get(id);
        if (response === undefined) return `Item '${id}' not found`;
        if (ids.has(id)) return 'Duplicate item found';
        ids.add(id);
        const place = response.indexOf(id);
        const before = response[place - 1];
        if (id.startsWith('rs_')) {
          const next = words(input[at + 1]?.['id'] ?? input[at + 1]?.['call_id']);
          return next === response[place + 1]
            ? undefined
            : 'reasoning without its required following item';
        }
        const isAlone = before?.startsWith('rs_') === true && !ids.has(before);
        return isAlone ? 'item without its required reasoning item' : undefined;
      }
      case 'reasoning':
        return 'reasoning that is not stored';
      case 'function_call': {
        const id = words(item['call_id']);
        if (calls.has(id)) return 'Duplicate call_id';
        calls.add(id);
        if (id.length === 0 || id.length > 64) return 'string too long';
        if (!NAME.test(words(item['name']))) return 'name does not match pattern';
        JSON.parse(words(item['arguments']));
        return outputs.has(id) ? undefined : 'No tool output found for function call';
      }
      case 'function_call_output':
        return calls.has(words(item['call_id']))
          ? first(list(item['output']), judgeOpenAIPart)
          : 'No tool call found for function call output';
      default:
        if (item['role'] === 'user' && list(item['content']).length === 0) return 'empty content';
        return item['role'] === 'user' ? first(list(item['content']), judgeOpenAIPart) : undefined;
    }
  });
  return fault ?? (input.length === 0 ? 'empty input' : undefined);
}

function judgeOpenAIPart(part: Json): string | undefined {
  if (part['type'] === 'input_image') {
    const url = part['image_url'];
    return words(url).startsWith('https:') || isDataOf(url, PICTURE) ? undefined : 'invalid image';
  }
  if (part['type'] !== 'input_file') return undefined;
  const isTaken = 'file_url' in part || isDataOf(part['file_data'], /^application\/pdf$/);
  return isTaken ? undefined : 'unsupported file';
}

function judgeChat(body: Json): string | undefined {
  const messages = list(body['messages']);
  return first(messages, (message, at) => {
    if (message['role'] === 'assistant') {
      const calls = list(message['tool_calls']);
      const isSilent = calls.length === 0 && message['content'] === null;
      if (isSilent) return 'content is null';
      return first(calls, (call, n) => {
        const { name, arguments: input } = call['function'] as Json;
        if (words(call['id']).length > 40) return 'id is too long';
        if (!NAME.test(words(name))) return 'name does not match pattern';
        if (!isObject(JSON.parse(words(input)))) return 'arguments are no object';
        const result = messages[at + 1 + n];
        return result?.['role'] === 'tool' && result['tool_call_id'] === call['id']
          ? undefined
          : 'tool_calls must be followed by tool messages';
      });
    }
    if (message['role'] === 'tool') {
      const earlier = messages.slice(0, at).findLast(({ role }) => role === 'assistant');
      const isAsked = list(earlier?.['tool_calls']).some(
        ({ id }) => id === message['tool_call_id'],
      );
      return isAsked ? undefined : 'a tool message must follow tool_calls';
    }
    return first(list(message['content']), (part) => {
      if (part['type'] === 'image_url') {
        const { url } = part['image_url'] as Json;
        return words(url).startsWith('https:') || isDataOf(url, PICTURE)
          ? undefined
          : 'invalid image';
      }
      if (part['type'] !== 'file') return undefined;
      const { file_data: data } = part['file'] as Json;
      return isDataOf(data, /^application\/pdf$/) ? undefined : 'unsupported file';
    });
  });
}

function judgeAnthropic(body: Json, { signatures }: Known): string | undefined {
  const messages = list(body['messages']);
  if (messages[0]?.['role'] !== 'user') return 'first message must use the user role';
  const last = messages.at(-1);
  const open = new Set<unknown>();
  const used = new Set<unknown>();
  const fault = first(messages, (message, at) => {
    const content = list(message['content']);
    if (content.length === 0) return 'all messages must have non-empty content';
    const isReply = message['role'] === 'assistant';
    if (isReply && words(content.at(-1)?.['type']).includes('thinking'))
      return 'final block is thinking';
    const uses = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    const next = list(messages[at + 1]?.['content']);
    const answers = next.slice(0, uses.length).map(({ tool_use_id: id }) => id);
    if (uses.some((id) => !answers.includes(id))) {
      return 'tool_use ids without tool_result blocks immediately after';
    }
    if (!isReply && content.some(({ type }) => type !== 'tool_result')) {
      if (open.size > 0) return 'server_tool_use without a result';
    }
    return first(content, (block) => judgeBlock(block, messages[at - 1]));
  });
  if (fault !== undefined) return fault;
  if (open.size > 0 && last?.['role'] !== 'assistant' && used.size === 0)
    return 'open server_tool_use';
  if (last?.['role'] === 'user') return undefined;
  return open.size > 0 ? undefined : 'This model does not support assistant message prefill';

  function judgeBlock(block: Json, before: Json | undefined): string | undefined {
    switch (block['type']) {
      case 'text':
        return isBlank(block['text'])
          ? 'text content blocks must contain non-whitespace text'
          : undefined;
      case 'thinking':
        return signatures.has(words(block['signature'])) ? undefined : 'invalid signature';
      case 'tool_use':
        if (used.has(block['id'])) return 'tool_use ids must be unique';
        used.add(block['id']);
        if (!/^[\w-]+$/.test(words(block['id']))) return 'id should match pattern';
        if (!NAME.test(words(block['name']))) return 'name should match pattern';
        return isObject(block['input']) ? undefined : 'input should be an object';
      case 'tool_result': {
        const calls = list(before?.['content']).map(({ id }) => id);
        if (!calls.includes(block['tool_use_id'])) return 'unexpected tool_use_id in tool_result';
        return first(list(block['content']), (part) => judgeBlock(part, undefined));
      }
      case 'server_tool_use':
        open.add(block['id']);
        return words(block['id']).startsWith('srvtoolu_') ? undefined : 'id should match srvtoolu_';
      case 'web_search_tool_result':
        return open.delete(block['tool_use_id']) ? undefined : 'result without server_tool_use';
      case 'image':
      case 'document': {
        const { type, media_type: mediaType, data } = block['source'] as Json;
        if (type === 'url') return undefined;
        const types = block['type'] === 'image' ? PICTURE : /^(application\/pdf|text\/plain)$/;
        return types.test(words(mediaType)) && data !== '' ? undefined : 'unsupported media type';
      }
      default:
        return `unknown block ${words(block['type'])}`;
    }
  }
}

const GOOGLE_TYPE = /^(image\/(png|jpeg|webp|heic|heif)|(audio|video|text)\/.+|application\/pdf)$/;

function judgeGoogle(body: Json, { signatures }: Known, name: string): string | undefined {
  const contents = list(body['contents']);
  if (contents[0]?.['role'] !== 'user') return 'the first turn must be the user’s';
  if (contents.at(-1)?.['role'] !== 'user') return 'requests must end with a user role';
  const callsIn = (content: Json | undefined) =>
    list(content?.['parts']).filter((part) => 'functionCall' in part);
  const resultsIn = (content: Json | undefined) =>
    list(content?.['parts']).filter((part) => 'functionResponse' in part);
  const question = contents.findLastIndex(
    (content) => content['role'] === 'user' && resultsIn(content).length === 0,
  );
  return first(contents, (content, at) => {
    const parts = list(content['parts']);
    const calls = callsIn(content);
    if (parts.length === 0) return 'contents.parts must not be empty';
    if (calls.length !== resultsIn(contents[at + 1]).length) {
      return 'the number of function response parts must equal that of function call parts';
    }
    if (calls.length > 0 && contents[at - 1]?.['role'] !== 'user') {
      return 'function call turn must come immediately after a user turn or a function response turn';
    }
    const isUnsigned = calls.length > 0 && !('thoughtSignature' in (calls[0] ?? {}));
    if (name === 'gemini3' && at > question && isUnsigned) return 'missing thought_signature';
    return first(parts, (part, n) => {
      const signature = words(part['thoughtSignature']);
      const isKnown = signatures.has(signature) || signature === 'skip_thought_signature_validator';
      if (signature !== '' && !isKnown) return 'corrupted thought signature';
      if ('text' in part) return part['text'] === '' && signature === '' ? 'empty text' : undefined;
      if ('functionCall' in part) {
        const { name: called, args } = part['functionCall'] as Json;
        if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(words(called))) return 'invalid function name';
        return isObject(args) ? undefined : 'args must be an object';
      }
      if ('executableCode' in part) {
        return 'codeExecutionResult' in (parts[n + 1] ?? {}) ? undefined : 'code without a result';
      }
      if ('inlineData' in part) {
        const { mimeType, data } = part['inlineData'] as Json;
        return GOOGLE_TYPE.test(words(mimeType)) && data !== ''
          ? undefined
          : 'unsupported MIME type';
      }
      if (!('fileData' in part)) return undefined;
      const { fileUri } = part['fileData'] as Json;
      return words(fileUri).startsWith('https:') ? undefined : 'unsupported file uri';
    });
  });
}

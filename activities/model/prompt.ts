import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { writeChangedInput } from '../../protocol/answers.js';
import { deniedReason } from '../../protocol/reply-fold.js';
import type {
  AssistantPart,
  AssistantRow,
  Row,
  ToolRow,
  UnseenContent,
  UserPart,
  UserRow,
} from '../../protocol/rows.js';
import { isText, toContent, type PromptFiles } from './prompt-files.js';

type Output = LanguageModelV4ToolResultOutput;

/**
 * Converts rows to the messages that `streamText` would send for this conversation; `rowOf` holds
 * the index of each message's first row.
 *
 * @param outputs results that tools word for the model themselves
 * @param files contents of files that messages name, by URL
 */
export function toMessages(
  rows: readonly Row[],
  outputs: ReadonlyMap<ToolRow, Output> = new Map(),
  files: PromptFiles = new Map(),
): { messages: LanguageModelV4Prompt; rowOf: number[] } {
  const messages: LanguageModelV4Prompt = [];
  const rowOf: number[] = [];
  const push = (message: LanguageModelV4Message, row: number): void => {
    messages.push(message);
    rowOf.push(row);
  };
  let results: LanguageModelV4ToolResultPart[] | undefined;
  const marks = marksOf(rows);
  const leftOut = findLeftOut(rows);
  for (const [at, stored] of rows.entries()) {
    const row = without(stored, leftOut[at]);
    // Display rows exist only for people's history.
    if (row.role !== 'user' && row.display === true) continue;
    if (row.role === 'tool') {
      if (results === undefined) {
        results = [];
        push({ role: 'tool', content: results }, at);
      }
      const { toolCallId, toolName } = row;
      const output = row === stored ? toPromptOutput(row, outputs.get(row)) : toOutput(row);
      const mark = toProviderOptions(marks.get(toolCallId));
      results.push({ type: 'tool-result', toolCallId, toolName, output, ...mark });
      continue;
    }
    results = undefined;
    const message =
      row.role === 'user' ? toUserMessage(row, files) : toAssistantMessage(row, files);
    if (message !== undefined) push(message, at);
  }
  return { messages, rowOf };
}

/** Returns the provider's marks of calls, which go back with the call and with its result. */
function marksOf(rows: readonly Row[]): Map<string, unknown> {
  const marks = new Map<string, unknown>();
  for (const row of rows) {
    if (row.role !== 'assistant' || row.display === true || row.interrupted !== undefined) continue;
    for (const part of row.parts) {
      if (part.type === 'tool-call') marks.set(part.toolCallId, part.providerMetadata);
    }
  }
  return marks;
}

/** Part of a row that the prompt omits after a provider refused it. */
type LeftOut = 'files' | 'all' | undefined;

/**
 * Finds the rows to omit after a permanent refusal, which would otherwise recur on each later turn:
 * all that was new since the newest accepted reply. Pure.
 */
function findLeftOut(rows: readonly Row[]): LeftOut[] {
  const leftOut: LeftOut[] = [];
  let accepted = -1;
  let refusals = 0;
  for (const [at, row] of rows.entries()) {
    if (row.role !== 'assistant') continue;
    if (row.refused !== undefined) {
      refusals += 1;
      for (let n = accepted + 1; n < at; n += 1) leftOut[n] = ofRefusal(row.refused, refusals);
    } else if (row.display !== true && (row.interrupted === undefined || row.parts.length > 0)) {
      // A reply that was stopped later counts too.
      accepted = at;
      refusals = 0;
    }
  }
  return leftOut;
}

/** Limits the omission on a first refusal if its code names the cause; the rest can stay. */
function ofRefusal(code: string, refusals: number): LeftOut {
  if (refusals > 1) return 'all';
  if (code === 'prompt_order_refused' || code === 'prompt_name_refused') return undefined;
  return code === 'prompt_file_refused' || code === 'prompt_too_long' ? 'files' : 'all';
}

function without(row: Row, leftOut: LeftOut): Row {
  if (leftOut === undefined || row.role === 'assistant') return row;
  if (row.role === 'tool') {
    const isPlain = row.error === undefined && row.denied !== true;
    return isPlain ? { ...row, output: toRefused('The result').text } : row;
  }
  if (leftOut === 'all') return { ...row, parts: [toRefused('A message')] };
  const parts = row.parts.map((part) =>
    part.type === 'text'
      ? part
      : toRefused(`The file ${JSON.stringify(part.filename ?? part.mediaType)}`),
  );
  return { ...row, parts };
}

function toRefused(what: string): Extract<UserPart, { type: 'text' }> {
  const text = `[${what} is left out: the provider of the model refused it.]`;
  return { type: 'text', text };
}

function toUserMessage(row: UserRow, files: PromptFiles): LanguageModelV4Message {
  // The mark shows that the user did not write it.
  const mark = row.hidden === true ? { helix: { internal: true } } : {};
  const providerOptions = { ...row.providerOptions, ...mark } as SharedV4ProviderOptions;
  return {
    role: 'user',
    content: row.parts.flatMap((part) => toUserContent(part, files) ?? []),
    ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
  };
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

function toUserContent(part: UserPart, files: PromptFiles): UserContent | undefined {
  const options = toProviderOptions(part.providerOptions);
  if (part.type === 'text') {
    return part.text === '' ? undefined : { type: 'text', text: part.text, ...options };
  }
  const { url, mediaType, filename } = part;
  const content = files.get(url) ?? toFile(mediaType, url, filename);
  return content.type === 'text' ? content : { ...content, ...options };
}

/** Converts a URL to a file; inline bytes are treated like an uploaded file. */
function toFile(mediaType: string, url: string, filename?: string): UserContent {
  const [, head, body = ''] = /^data:([^,]*),?(.*)$/is.exec(url) ?? [];
  // This is a stored file whose bytes were not read.
  if (head === undefined && !URL.canParse(url)) return toName(url);
  if (head === undefined) {
    return { type: 'file', mediaType, filename, data: { type: 'url', url: new URL(url) } };
  }
  const isBase64 = /;base64$/i.test(head);
  const bytes = (): Buffer =>
    isBase64 ? Buffer.from(body, 'base64') : Buffer.from(unescaped(body));
  if (isText(mediaType)) return toContent({ mediaType, filename }, bytes());
  const data = isBase64 ? body : bytes().toString('base64');
  return { type: 'file', mediaType, filename, data: { type: 'data', data } };
}

function unescaped(body: string): string {
  try {
    return decodeURIComponent(body);
  } catch {
    return body;
  }
}

function toAssistantMessage(
  { parts, interrupted }: AssistantRow,
  files: PromptFiles,
): LanguageModelV4Message | undefined {
  const isCut = interrupted !== undefined;
  const content = parts.flatMap((part) => toReplyContent(part, isCut, files) ?? []);
  return content.length === 0 ? undefined : { role: 'assistant', content };
}

type ReplyContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/**
 * Converts a part of a reply. A cut reply loses its reasoning, whose signature may be missing, the
 * provider's own calls, which belong to the reasoning, and its marks: the provider keeps no items
 * of an incomplete response.
 */
function toReplyContent(
  part: AssistantPart,
  isCut: boolean,
  files: PromptFiles,
): ReplyContent | undefined {
  const options = isCut ? {} : toProviderOptions(part.providerMetadata);
  switch (part.type) {
    case 'text': {
      const isEmpty = part.text === '' && options.providerOptions === undefined;
      return isEmpty ? undefined : { type: 'text', text: part.text, ...options };
    }
    case 'reasoning': {
      if (isCut) return undefined;
      const { text, stands } = part;
      const content = stands && toUnseen(stands, files);
      return { ...(content ?? { type: 'reasoning', text }), ...options };
    }
    case 'tool-call': {
      const { toolCallId, toolName, input, kind } = part;
      const isProviders = kind === 'provider';
      if (isProviders && isCut) return undefined;
      const mark = isProviders && { providerExecuted: true };
      return { type: 'tool-call', toolCallId, toolName, input, ...mark, ...options };
    }
    case 'tool-result': {
      if (isCut) return undefined;
      const { toolCallId, toolName } = part;
      const output = toProvidersOutput(part);
      return { type: 'tool-result', toolCallId, toolName, output, ...options };
    }
    case 'file': {
      const made = files.get(part.url) ?? toFile(part.mediaType, part.url);
      return made.type === 'file' ? { ...made, ...options } : made;
    }
    // The model already knows its sources.
    case 'source-url':
    case 'source-document':
      return undefined;
  }
}

function toUnseen(stands: UnseenContent, files: PromptFiles): ReplyContent {
  if (stands.type === 'custom') return { ...stands };
  const { type, url, mediaType } = stands;
  const made = files.get(url) ?? toFile(mediaType, url);
  if (made.type === 'text') return made;
  const { data } = made;
  return data.type === 'data' || data.type === 'url' ? { type, mediaType, data } : toName(url);
}

function toName(url: string): { type: 'text'; text: string } {
  return { type: 'text', text: `[File ${url}]` };
}

function toProvidersOutput(part: Extract<AssistantPart, { type: 'tool-result' }>): Output {
  const { output, isError } = part;
  if (isError !== true) return toPlainOutput(output);
  const reason = deniedReason(output);
  return reason === undefined
    ? { type: 'error-json', value: (output ?? null) as never }
    : { type: 'execution-denied', reason };
}

/** Rows come out of JSON, so their output is JSON. */
function toPlainOutput(output: unknown): Output {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: (output ?? null) as never };
}

function toProviderOptions(metadata: unknown): { providerOptions?: SharedV4ProviderOptions } {
  // The stored form is the provider's own, so the provider takes it back.
  return metadata === undefined ? {} : { providerOptions: metadata as SharedV4ProviderOptions };
}

/** Tells the model which input a person changed before the execution, and who that was. */
function toPromptOutput(row: ToolRow, output: Output = toOutput(row)): Output {
  if (row.decision?.input === undefined || !row.decision.approved) return output;
  const { by: approver = 'a person', inputBy: by = approver, input } = row.decision;
  const note = (outcome: string, failed = false): string =>
    writeChangedInput({ by, input, outcome, failed });
  switch (output.type) {
    case 'content': {
      const text = note('as follows.');
      return { ...output, value: [{ type: 'text', text }, ...output.value] };
    }
    case 'text':
      return { type: 'text', value: note(output.value) };
    case 'error-text':
      return { type: 'error-text', value: note(output.value, true) };
    default:
      return { type: 'text', value: note(JSON.stringify('value' in output ? output.value : null)) };
  }
}

function toOutput({ denied, decision, error, output }: ToolRow): Output {
  if (denied === true) return { type: 'execution-denied', reason: decision?.reason };
  return error === undefined ? toPlainOutput(output) : { type: 'error-text', value: error };
}

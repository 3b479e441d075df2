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

/**
 * Converts rows to the prompt that `streamText` would send for this conversation.
 *
 * @param outputs results that tools word for the model themselves
 * @param files contents of files that user messages name, by URL
 */
export function toPrompt(
  system: string,
  rows: readonly Row[],
  outputs: ReadonlyMap<ToolRow, LanguageModelV4ToolResultOutput> = new Map(),
  files: PromptFiles = new Map(),
): LanguageModelV4Prompt {
  const { messages } = toMessages(rows, outputs, files);
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages];
}

/** Converts rows without a system prompt; `rowOf` holds the index of each message's first row. */
export function toMessages(
  rows: readonly Row[],
  outputs: ReadonlyMap<ToolRow, LanguageModelV4ToolResultOutput>,
  files: PromptFiles,
): { messages: LanguageModelV4Prompt; rowOf: number[] } {
  const messages: LanguageModelV4Prompt = [];
  const rowOf: number[] = [];
  const push = (message: LanguageModelV4Message, row: number): void => {
    messages.push(message);
    rowOf.push(row);
  };
  let results: LanguageModelV4ToolResultPart[] | undefined;
  // A provider's mark goes back with the call and with its result.
  const marks = new Map<string, unknown>();
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
      const output = row === stored ? toToldOutput(row, outputs.get(row)) : toOutput(row);
      results.push({
        ...toToolResult(row, output),
        ...toProviderOptions(marks.get(row.toolCallId)),
      });
      continue;
    }
    results = undefined;
    if (row.role === 'assistant') {
      for (const part of row.parts) {
        if (part.type !== 'tool-call' || row.interrupted !== undefined) continue;
        marks.set(part.toolCallId, part.providerMetadata);
      }
    }
    const message =
      row.role === 'user' ? toUserMessage(row, files) : toAssistantMessage(row, files);
    if (message !== undefined) push(message, at);
  }
  return { messages, rowOf };
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
    return isPlain ? { ...row, output: toRefused('The result') } : row;
  }
  if (leftOut === 'all') return { ...row, parts: [toTextPart(toRefused('A message'))] };
  const parts = row.parts.map((part) =>
    part.type === 'text'
      ? part
      : toTextPart(toRefused(`The file ${JSON.stringify(part.filename ?? part.mediaType)}`)),
  );
  return { ...row, parts };
}

function toTextPart(text: string): UserPart {
  return { type: 'text', text };
}

function toRefused(what: string): string {
  return `[${what} is left out: the provider of the model refused it.]`;
}

function toUserMessage(row: UserRow, files: PromptFiles): LanguageModelV4Message {
  // The mark shows that the user did not write it.
  const mark = row.hidden === true ? { helix: { internal: true } } : {};
  const providerOptions = { ...row.providerOptions, ...mark } as SharedV4ProviderOptions;
  return {
    role: 'user',
    content: row.parts.filter(isTold).map((part) => toUserContent(part, files)),
    ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
  };
}

function isTold(part: UserPart): boolean {
  return part.type !== 'text' || part.text !== '';
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

function toUserContent(part: UserPart, files: PromptFiles): UserContent {
  const options = toProviderOptions(part.providerOptions);
  if (part.type === 'text') return { type: 'text', text: part.text, ...options };
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

/**
 * Converts a reply. A cut reply loses its reasoning, whose signature may be missing, and its marks:
 * the provider keeps no items of an incomplete response.
 */
function toAssistantMessage(
  row: AssistantRow,
  files: PromptFiles,
): LanguageModelV4Message | undefined {
  const content: AssistantContent[] = [];
  const isCut = row.interrupted !== undefined;
  const toOptions = (part: { providerMetadata?: unknown }) =>
    isCut ? {} : toProviderOptions(part.providerMetadata);
  for (const part of row.parts) {
    switch (part.type) {
      case 'text': {
        const options = toOptions(part);
        if (part.text === '' && options.providerOptions === undefined) break;
        content.push({ type: 'text', text: part.text, ...options });
        break;
      }
      case 'reasoning':
        if (isCut) break;
        content.push(
          part.stands === undefined
            ? { type: 'reasoning', text: part.text, ...toOptions(part) }
            : { ...toUnseen(part.stands, files), ...toOptions(part) },
        );
        break;
      case 'tool-call': {
        const { toolCallId, toolName, input, kind } = part;
        const isProviders = kind === 'provider';
        // Provider-executed calls belong to the reasoning and go with it.
        if (isProviders && isCut) break;
        const mark = isProviders ? { providerExecuted: true } : {};
        const call = { toolCallId, toolName, input, ...mark, ...toOptions(part) };
        content.push({ type: 'tool-call', ...call });
        break;
      }
      case 'tool-result': {
        if (isCut) break;
        const { toolCallId, toolName } = part;
        const output = toProvidersOutput(part);
        content.push({ type: 'tool-result', toolCallId, toolName, output, ...toOptions(part) });
        break;
      }
      case 'file': {
        const { mediaType, url } = part;
        const made = files.get(url) ?? toFile(mediaType, url);
        content.push(made.type === 'file' ? { ...made, ...toOptions(part) } : made);
        break;
      }
      // The model already knows its sources.
      case 'source-url':
      case 'source-document':
    }
  }
  return content.length === 0 ? undefined : { role: 'assistant', content };
}

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

function toUnseen(stands: UnseenContent, files: PromptFiles): AssistantContent {
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

function toProvidersOutput({
  output = null,
  isError,
}: Extract<AssistantPart, { type: 'tool-result' }>): LanguageModelV4ToolResultOutput {
  const reason = deniedReason(output);
  if (isError === true && reason !== undefined) return { type: 'execution-denied', reason };
  // Rows come out of JSON, so their output is JSON.
  if (isError === true) return { type: 'error-json', value: output as never };
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output as never };
}

function toProviderOptions(metadata: unknown): { providerOptions?: SharedV4ProviderOptions } {
  // The stored form is the provider's own, so the provider takes it back.
  return metadata === undefined ? {} : { providerOptions: metadata as SharedV4ProviderOptions };
}

function toToolResult(
  { toolCallId, toolName }: ToolRow,
  output: LanguageModelV4ToolResultOutput,
): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** Tells the model which input a person changed before the execution, and who that was. */
function toToldOutput(
  row: ToolRow,
  output: LanguageModelV4ToolResultOutput = toOutput(row),
): LanguageModelV4ToolResultOutput {
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
    case 'error-text': {
      const failed = output.type === 'error-text';
      return { type: output.type, value: note(output.value, failed) };
    }
    default:
      return { type: 'text', value: note(JSON.stringify('value' in output ? output.value : null)) };
  }
}

function toOutput(row: ToolRow): LanguageModelV4ToolResultOutput {
  if (row.denied === true) {
    const reason = row.decision?.reason;
    return { type: 'execution-denied', reason };
  }
  if (row.error !== undefined) return { type: 'error-text', value: row.error };
  return typeof row.output === 'string'
    ? { type: 'text', value: row.output }
    : // Rows come out of JSON, so their output is JSON.
      { type: 'json', value: (row.output ?? null) as never };
}

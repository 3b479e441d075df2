import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { writeChangedInput } from '../../protocol/changed-input.js';
import { deniedReason } from '../../protocol/provider-result.js';
import type {
  AssistantPart,
  AssistantRow,
  Row,
  ToolRow,
  UnseenContent,
  UserPart,
  UserRow,
} from '../../protocol/rows.js';

/**
 * Rows → prompt; the same as `streamText` would send for this conversation.
 *
 * @param outputs results that tools word for the model themselves
 * @param files contents of files that user messages name, by their URL
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

/** The same without the system prompt; `rowOf` has the index of the row that each message begins with. */
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
  // A provider may mark a call; the mark goes back with the call and with its result.
  const marks = new Map<string, unknown>();
  for (const [at, row] of rows.entries()) {
    // What is kept for people's history only.
    if (row.role !== 'user' && row.display === true) continue;
    if (row.role === 'tool') {
      if (results === undefined) {
        results = [];
        push({ role: 'tool', content: results }, at);
      }
      const output = toToldOutput(row, outputs.get(row));
      results.push({
        ...toToolResult(row, output),
        ...toProviderOptions(marks.get(row.toolCallId)),
      });
      continue;
    }
    results = undefined;
    if (row.role === 'assistant') {
      for (const part of row.parts) {
        if (part.type === 'tool-call') marks.set(part.toolCallId, part.providerMetadata);
      }
    }
    const message =
      row.role === 'user' ? toUserMessage(row, files) : toAssistantMessage(row, files);
    if (message !== undefined) push(message, at);
  }
  return { messages, rowOf };
}

function toUserMessage(row: UserRow, files: PromptFiles): LanguageModelV4Message {
  return {
    role: 'user',
    content: row.parts.filter(isTold).map((part) => toUserContent(part, files)),
    // Marked, since the user did not write it.
    ...(row.hidden === true && { providerOptions: { helix: { internal: true } } }),
  };
}

function isTold(part: UserPart): boolean {
  return part.type !== 'text' || part.text !== '';
}

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number];

/** What stands in a prompt for files that messages name, by their URL. */
export type PromptFiles = ReadonlyMap<string, UserContent>;

function toUserContent(part: UserPart, files: PromptFiles): UserContent {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const known = files.get(part.url);
  if (known !== undefined) return known;
  return {
    type: 'file',
    mediaType: part.mediaType,
    filename: part.filename,
    data: toFileData(part.url),
  };
}

function toFileData(url: string): { type: 'data'; data: string } | { type: 'url'; url: URL } {
  const match = /^data:[^,]*;base64,(.*)$/s.exec(url);
  return match?.[1] === undefined
    ? { type: 'url', url: new URL(url) }
    : { type: 'data', data: match[1] };
}

/** A cut reply goes without its reasoning: providers refuse reasoning whose signature is missing. */
function toAssistantMessage(
  row: AssistantRow,
  files: PromptFiles,
): LanguageModelV4Message | undefined {
  const content: AssistantContent[] = [];
  for (const part of row.parts) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') content.push({ type: 'text', text: part.text, ...toOptions(part) });
        break;
      case 'reasoning':
        if (row.interrupted !== undefined) break;
        content.push(
          part.stands === undefined
            ? { type: 'reasoning', text: part.text, ...toOptions(part) }
            : { ...toUnseen(part.stands, files), ...toOptions(part) },
        );
        break;
      case 'tool-call': {
        const { toolCallId, toolName, input, kind } = part;
        const isProviders = kind === 'provider';
        // What belongs together with reasoning goes with it.
        if (isProviders && row.interrupted !== undefined) break;
        const mark = isProviders ? { providerExecuted: true } : {};
        const call = { toolCallId, toolName, input, ...mark, ...toOptions(part) };
        content.push({ type: 'tool-call', ...call });
        break;
      }
      case 'tool-result': {
        if (row.interrupted !== undefined) break;
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
      // Sources come from the model itself.
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

function toFile(mediaType: string, url: string): UserContent {
  // A stored file whose bytes were not read.
  return URL.canParse(url) ? { type: 'file', mediaType, data: toFileData(url) } : toName(url);
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

function toOptions(part: { providerMetadata?: unknown }): ReturnType<typeof toProviderOptions> {
  return toProviderOptions(part.providerMetadata);
}

function toProviderOptions(metadata: unknown): { providerOptions?: SharedV4ProviderOptions } {
  // Stored as the provider gave it, so it has the shape that the provider takes back.
  return metadata === undefined ? {} : { providerOptions: metadata as SharedV4ProviderOptions };
}

function toToolResult(
  { toolCallId, toolName }: ToolRow,
  output: LanguageModelV4ToolResultOutput,
): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** Tells the model what a person changed before the call was carried out, and who that was. */
function toToldOutput(
  row: ToolRow,
  output: LanguageModelV4ToolResultOutput = toOutput(row),
): LanguageModelV4ToolResultOutput {
  if (row.decision?.input === undefined || !row.decision.approved) return output;
  const { by = 'a person', input } = row.decision;
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

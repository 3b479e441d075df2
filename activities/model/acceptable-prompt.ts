import { createHash } from 'node:crypto';
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { isObject } from '../../agents/fields.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { AssistantPart, AssistantRow, Row } from '../../protocol/rows.js';
import { providerOf } from '../../protocol/telemetry.js';
import { pairCalls } from './prepare-messages.js';
import { isFetchedBy, sentence, type TextPart } from './prompt-files.js';

export interface NamedModel {
  provider: string;
  modelId: string;
}

/** The asked model and the facts that decide the form of its prompt. */
export interface Asked {
  model: NamedModel & { supportedUrls?: Record<string, RegExp[]> };
  /** Names of the tools offered to the model. */
  tools: readonly string[];
  /** Returns true for a part that only another model's provider can read. */
  isForeign: (key: string) => boolean;
  /** True if the model may only submit its result. */
  forceFinish?: boolean;
  /** True if the agent declares that its provider takes all file types. */
  takesAllFiles?: boolean;
}

/**
 * Converts a prompt to the form that the asked model's provider takes; otherwise one stored row
 * could block every later turn. It changes call names and ids, blank texts, other providers' parts,
 * file types, calls without results, and the order of messages. It keeps an ordinary prompt. Pure.
 */
export function toAcceptable(prompt: LanguageModelV4Prompt, asked: Asked): LanguageModelV4Prompt {
  const rules: Rules = { ...asked, family: familyOf(asked.model) };
  const begins = prompt.findIndex(({ role }) => role !== 'system');
  const [system, said] =
    begins < 0 ? [prompt, []] : [prompt.slice(0, begins), prompt.slice(begins)];
  const messages = said.flatMap((message) => toAcceptableMessage(message, rules));
  const paired = pairCalls(withRequests(withResultsBehindCalls(messages), asked.forceFinish));
  const kept = paired.flatMap(withoutLastThought);
  return [
    ...system.filter(({ content, providerOptions }) => !isBlank(content) || providerOptions),
    ...(kept[0]?.role === 'user' ? [] : [internal(BEGINNING)]),
    ...kept,
  ];
}

/** Providers with their own rules; `chat` is the OpenAI format that others adopted. */
type Family = 'openai' | 'chat' | 'anthropic' | 'google' | 'mistral';

interface Rules extends Asked {
  family: Family | undefined;
}

/** Gateways name the provider in the model's id. */
function familyOf({ provider, modelId }: NamedModel): Family | undefined {
  const name = `${provider} ${modelId}`;
  if (/anthropic|claude/i.test(name)) return 'anthropic';
  if (/google|vertex|gemini/i.test(name)) return 'google';
  if (/mistral/i.test(name)) return 'mistral';
  if (/\.chat\b/i.test(provider)) return 'chat';
  return /^(openai|azure)\b|^gateway openai\//i.test(name) ? 'openai' : undefined;
}

// ---- parts of other providers

/**
 * Returns a test for parts that the asked model's provider cannot read, since another one made
 * them. Reasoning and item ids are also bound to the model; Claude models read one another's.
 */
export function foreignTo(model: NamedModel, rows: readonly Row[]): (key: string) => boolean {
  const foreign = new Set<string>();
  for (const row of rows) {
    if (row.role !== 'assistant' || isOf(model, row)) continue;
    for (const key of row.parts.flatMap(boundKeys)) foreign.add(key);
  }
  return (key) => foreign.has(key);
}

function isOf(model: NamedModel, { model: noted, answered }: AssistantRow): boolean {
  const made = noted ?? answered;
  // The maker of an older row, or of an imported history, is unknown.
  if (made === undefined) return true;
  const family = familyOf(model);
  if (vendorOf(made) !== vendorOf(model) || familyOf(made) !== family) return false;
  return family === 'anthropic' || made.modelId === model.modelId;
}

function vendorOf({ provider, modelId }: NamedModel): string {
  return modelId.includes('/') ? `${provider} ${modelId.split('/')[0] ?? ''}` : provider;
}

/** Returns true for parts that bind a reply to its model; rows with such parts note the model. */
export function isBound(part: AssistantPart): boolean {
  return boundKeys(part).length > 0;
}

function boundKeys(part: AssistantPart): string[] {
  if (part.type === 'source-url' || part.type === 'source-document') return [];
  const keys = part.providerMetadata === undefined ? [] : [keyOfMark(part.providerMetadata)];
  if (part.type === 'reasoning') {
    keys.push(keyOfThought(part.stands ?? part, part.providerMetadata));
  }
  const isProviders = part.type === 'tool-call' && part.kind === 'provider';
  if (isProviders || part.type === 'tool-result') keys.push(keyOfCall(part.toolCallId));
  return keys;
}

// Keys come from the content, since an agent's `prepareStep` may have copied the parts.
const keyOfMark = (mark: unknown): string => `mark ${JSON.stringify(mark)}`;
const keyOfThought = (thought: { type: string; text?: string; kind?: string }, mark: unknown) =>
  JSON.stringify([thought.text ?? thought.kind ?? thought.type, mark]);
const keyOfCall = (toolCallId: string): string => `call ${toolCallId}`;

interface Marked {
  providerOptions?: SharedV4ProviderOptions;
}

function withoutForeignMark<Part extends Marked>(part: Part, { isForeign }: Rules): Part {
  const { providerOptions, ...rest } = part;
  const isKept = providerOptions === undefined || !isForeign(keyOfMark(providerOptions));
  return isKept ? part : (rest as Part);
}

// ---- messages and their parts

type ContentOf<Role extends LanguageModelV4Message['role']> = Exclude<
  Extract<LanguageModelV4Message, { role: Role }>['content'],
  string
>[number];

function toAcceptableMessage(message: LanguageModelV4Message, rules: Rules): LanguageModelV4Prompt {
  switch (message.role) {
    case 'system':
      return [message];
    case 'user': {
      const content = message.content.flatMap((part) => {
        if (part.type !== 'text') return toAcceptableFile(part, rules);
        return isBlank(part.text) ? [] : part;
      });
      return [{ ...message, content: content.length > 0 ? content : [text(EMPTY)] }];
    }
    case 'assistant': {
      const content = message.content.flatMap((part) => toReplyContent(part, rules));
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    case 'tool':
      return [{ ...message, content: message.content.map((part) => toResult(part, rules)) }];
  }
}

function toReplyContent(part: ContentOf<'assistant'>, rules: Rules): ContentOf<'assistant'>[] {
  const { family, isForeign } = rules;
  switch (part.type) {
    case 'text': {
      const own = withoutForeignMark(part, rules);
      // A blank text may be the item that an OpenAI reasoning item belongs to.
      const isKept = own.providerOptions !== undefined && family !== 'anthropic';
      return isBlank(own.text) && !isKept ? [] : [own];
    }
    case 'reasoning':
    case 'reasoning-file':
    case 'custom':
      return isForeign(keyOfThought(part, part.providerOptions)) ? [] : [part];
    case 'tool-call': {
      const { toolCallId, input, providerExecuted } = part;
      if (providerExecuted === true) return isForeign(keyOfCall(toolCallId)) ? [] : [part];
      const given = family === 'google' && !isObject(input) && { input: { value: input } };
      return [{ ...toAcceptableCall(part, rules), ...given }];
    }
    case 'tool-result':
      return isForeign(keyOfCall(part.toolCallId)) ? [] : [part];
    case 'file': {
      const own = withoutForeignMark(part, rules);
      const { data } = own;
      // Google's package refuses a request with a URL in a reply.
      const isAway = family === 'google' && data.type === 'url';
      return [isAway ? text(`[File ${data.url.href}]`) : own];
    }
    default:
      return [part];
  }
}

function toResult(part: ContentOf<'tool'>, rules: Rules): ContentOf<'tool'> {
  if (part.type !== 'tool-result') return part;
  const output = toAcceptableOutput(part.output, rules);
  return { ...toAcceptableCall(part, rules), output };
}

function toAcceptableCall<Part extends Marked & { toolCallId: string; toolName: string }>(
  part: Part,
  rules: Rules,
): Part {
  return {
    ...withoutForeignMark(part, rules),
    toolCallId: toAcceptableId(part.toolCallId, rules),
    toolName: toAcceptableName(part.toolName, rules),
  };
}

function toAcceptableOutput(
  output: LanguageModelV4ToolResultOutput,
  rules: Rules,
): LanguageModelV4ToolResultOutput {
  if (output.type !== 'content') return output;
  const value = output.value.flatMap((part) => {
    if (part.type === 'file') return toAcceptableFile(part, rules);
    return part.type === 'text' && isBlank(part.text) ? [] : part;
  });
  if (rules.family !== 'google') return { ...output, value };
  // Google's package makes a result of each text and none of a file; Gemini wants one per call.
  const texts = value.flatMap((part) => (part.type === 'text' ? part.text : []));
  const all = texts.length > 0 ? texts.join('\n') : 'The result follows.';
  return { ...output, value: [text(all), ...value.filter(({ type }) => type !== 'text')] };
}

/** Replaces names that the model invented; offered tools have acceptable names. */
function toAcceptableName(name: string, { tools, family }: Rules): string {
  if (tools.includes(name)) return name;
  const plain = name.replace(/[^\w-]/g, '_').slice(0, 64);
  return family === 'google' && !/^[a-z_]/i.test(plain) ? `_${plain.slice(0, 63)}` : plain;
}

/** OpenAI limits the length of ids, other providers their characters. */
const IDS: Partial<Record<Family, RegExp>> = {
  openai: /^.{1,64}$/s,
  chat: /^.{1,40}$/s,
  anthropic: /^[\w-]{1,64}$/,
  mistral: /^[a-z\d]{9}$/i,
};

function toAcceptableId(id: string, { family }: Rules): string {
  const rule = family && IDS[family];
  if (rule === undefined || rule.test(id)) return id;
  const short = createHash('sha256').update(id).digest('hex');
  return family === 'mistral' ? short.slice(0, 9) : `call_${short.slice(0, 32)}`;
}

// ---- files

const IMAGE = 'image(/(png|jpeg|gif|webp|\\*))?';

/** File types that a family of models takes; the types of other models are unknown. */
const TAKEN: Partial<Record<Family, RegExp>> = {
  openai: new RegExp(`^(${IMAGE}|application/pdf)$`),
  chat: new RegExp(`^(${IMAGE}|application/pdf|audio/(wav|mp3|mpeg)|text/.+)$`),
  anthropic: new RegExp(`^(${IMAGE}|application/pdf|text/plain)$`),
  google: /^(image(\/(png|jpeg|webp|heic|heif|\*))?|(audio|video|text)\/.+|application\/pdf)$/,
};

/** Returns the family that limits files: the requesting package's, or a gateway's target. */
function fileFamilyOf({ provider, modelId }: NamedModel): Family | undefined {
  return familyOf({ provider, modelId: provider === 'gateway' ? modelId : '' });
}

type FilePart = Pick<LanguageModelV4FilePart, 'data' | 'mediaType' | 'filename'>;

/** Returns the file, or a sentence in place of one that the model does not take. */
function toAcceptableFile<Part extends FilePart>(part: Part, rules: Rules): Part | TextPart {
  const { model, takesAllFiles = false } = rules;
  const family = fileFamilyOf(model);
  const [given = ''] = part.mediaType.split(';');
  const mediaType = given
    .trim()
    .toLowerCase()
    .replace(/^image\/jpg$/, 'image/jpeg');
  const { data } = part;
  if (data.type === 'reference') {
    const isKnown = [providerOf(model), family ?? ''].some((name) => name in data.reference);
    return isKnown || family === undefined ? part : sentence(part, 'is kept by another provider.');
  }
  if (data.type === 'data' && data.data.length === 0) return sentence(part, 'is empty.');
  if (mediaType === '') return sentence(part, 'is left out: its type is not known.');
  const isTaken = takesAllFiles || (family && TAKEN[family])?.test(mediaType) !== false;
  if (data.type === 'url') {
    // OpenAI itself reads the files that it fetches.
    const isRead = isTaken || family === 'openai';
    const isReached =
      family !== 'google' || isFetchedBy(model.supportedUrls ?? {}, data.url.href, mediaType);
    const isFetched = family !== 'chat' || mediaType.startsWith('image');
    if (isRead && isReached && isFetched) return { ...part, mediaType };
    return sentence(part, `is at ${data.url.href}, where the model cannot read it.`);
  }
  if (!isTaken) return sentence(part, `is left out: the model does not take ${mediaType}.`);
  return mediaType === part.mediaType ? part : { ...part, mediaType };
}

// ---- the order of messages

/** Puts the results of a reply's calls right behind it, as providers require. */
function withResultsBehindCalls(messages: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const isInOrder = messages.every((message, at) => {
    const calls = callsOf(message);
    const next = resultsOf(messages[at + 1]);
    return calls.every((id) => next.some(({ toolCallId }) => toolCallId === id));
  });
  if (isInOrder) return messages;
  const results = new Map(messages.flatMap(resultsOf).map((part) => [part.toolCallId, part]));
  return messages.flatMap((message): LanguageModelV4Prompt => {
    if (message.role === 'tool') return [];
    const content = callsOf(message).flatMap((id) => results.get(id) ?? []);
    return content.length === 0 ? [message] : [message, { role: 'tool', content }];
  });
}

type ToolResult = Extract<ContentOf<'tool'>, { type: 'tool-result' }>;

function resultsOf(message: LanguageModelV4Message | undefined): ToolResult[] {
  if (message?.role !== 'tool') return [];
  return message.content.flatMap((part) => (part.type === 'tool-result' ? [part] : []));
}

/** Returns the ids of the calls whose results come from this runtime. */
function callsOf(message: LanguageModelV4Message): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((part) =>
    part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [],
  );
}

/**
 * Adds a request behind each reply that was cut off: providers refuse a conversation that ends with
 * the model's own message, and Gemini refuses a call that follows one. A reply with a
 * provider-executed call stays open, since the provider continues it.
 */
function withRequests(messages: LanguageModelV4Prompt, forceFinish = false): LanguageModelV4Prompt {
  return messages.flatMap((message, at) => {
    const next = messages[at + 1];
    if (message.role !== 'assistant' || (next !== undefined && next.role !== 'assistant')) {
      return [message];
    }
    if (callsOf(message).length > 0 || isContinued(message.content)) return [message];
    const handsIn = next === undefined ? forceFinish : next.content.some(isFinish);
    return [message, internal(handsIn ? HAND_IN : GO_ON)];
  });
}

function isFinish(part: ContentOf<'assistant'>): boolean {
  return part.type === 'tool-call' && part.toolName === FINISH_TOOL_NAME;
}

/** Returns true for a reply with a call whose result the provider sends in a later reply. */
function isContinued(content: readonly ContentOf<'assistant'>[]): boolean {
  const results = content.flatMap((part) => (part.type === 'tool-result' ? part.toolCallId : []));
  return content.some(
    (part) =>
      part.type === 'tool-call' &&
      part.providerExecuted === true &&
      !results.includes(part.toolCallId),
  );
}

/** Drops trailing reasoning, which providers refuse. */
function withoutLastThought(message: LanguageModelV4Message): LanguageModelV4Prompt {
  if (message.role !== 'assistant') return [message];
  const last = message.content.findLastIndex(
    ({ type }) => type !== 'reasoning' && type !== 'reasoning-file',
  );
  return last < 0 ? [] : [{ ...message, content: message.content.slice(0, last + 1) }];
}

const EMPTY = '[The message is empty.]';
const BEGINNING = '[The beginning of the conversation is left out.]';
const GO_ON = '[The reply was cut off here. Go on where it ends, without repeating it.]';
const HAND_IN = `Hand in your result now: call "${FINISH_TOOL_NAME}".`;

function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words };
}

/** Creates a user message that is marked as the runtime's, since the user did not write it. */
export function internal(words: string): LanguageModelV4Message {
  const providerOptions = { helix: { internal: true } };
  return { role: 'user', content: [text(words)], providerOptions };
}

function isBlank(words: unknown): boolean {
  return typeof words === 'string' && words.trim() === '';
}

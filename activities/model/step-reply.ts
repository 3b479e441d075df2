import type {
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
  LanguageModelV4Source,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { isObject } from '../../agents/fields.js';
import {
  type FinishReason,
  type ShownMetadata,
  type StreamChunk,
  type Usage,
  toTokenCount,
} from '../../protocol/chunk.js';
import type { ErrorCode } from '../../protocol/errors.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import { findJsonFault, LIMITS, startOf } from '../../protocol/limits.js';
import {
  createReplyFold,
  isShownUrl,
  isTooLargeToShow,
  toPartialInput,
  toShownMetadata,
  toShownResult,
  type ReplyFold,
} from '../../protocol/reply-fold.js';
import type { Answered, AssistantPart } from '../../protocol/rows.js';
import { CallIds } from './call-ids.js';
import { ReplyBlocks, storableOf, WholeCharacters, type ChunkFields } from './reply-blocks.js';
import type { StepPlace } from '../../runs/record/step-chunks.js';

/** A file that the model made. */
export type MadeFile = LanguageModelV4File | LanguageModelV4ReasoningFile;

/** A stored file, or the reason that it was not stored. */
export type KeptFile = { url: string } | { error: string; code: ErrorCode };

export const TOO_LARGE = {
  error: 'Something that the model made is too large to be shown.',
  code: 'chunk_too_large',
} as const satisfies KeptFile;

/** Leaves room for the fields that all chunks have. */
export const MAX_ATTACHMENT_BYTES = LIMITS.chunkBytes - 2 * 1024;

/** A call from the provider, before its input is checked. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  /** JSON text. */
  input: string;
  /** Set if its chunks name it as a call that pages execute. */
  byClient?: true;
  /** What its chunks tell of the provider's metadata. */
  providerMetadata?: ShownMetadata;
}

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** A part whose metadata the provider wants back with the next call. */
type MarkedPart = Extract<AssistantPart, { providerMetadata?: unknown }>;

export interface StepReply {
  /** Names a call through `take` before the call is accepted. */
  nameCall: (providerId: string, take: (wanted: string) => Promise<string>) => Promise<void>;
  /** @param kept result of storing a file that is too large for the stream */
  accept: (part: LanguageModelV4StreamPart, kept?: KeptFile) => StreamChunk[];
  /** Returns the session's id of a call that the reply has begun, by the provider's id. */
  knownId: (providerId: string) => string | undefined;
  fold: ReplyFold;
  calls: ProposedCall[];
  /** Calls whose chunks wait until the step is stored. */
  deferredCalls: ReadonlySet<string>;
  /** Returns true once the reply has shown something. */
  begun: () => boolean;
  /** Facts that the provider has reported so far. */
  reported: Reported;
  /** Returns the provider's usage and reason, once it has sent its finish part. */
  finish: () => { reason: FinishReason; usage: Usage } | undefined;
}

/**
 * Creates the reply of one model call: takes the parts of the model's stream and returns the chunks
 * to write. Pure, except that `now` stamps chunks.
 */
export function createStepReply(
  base: Omit<StepPlace, 'runId'>,
  usedCallIds: ReadonlySet<string>,
  now: () => number,
  tools: {
    /** Returns true if a call's chunks wait until the step is stored; asked as the call begins. */
    isDeferred?: (toolName: string) => boolean;
    /** Returns true if pages execute the tool. */
    isClients?: (toolName: string) => boolean;
  } = {},
): StepReply {
  const { isDeferred = () => false, isClients = () => false } = tools;
  const fold = createReplyFold();
  const calls: ProposedCall[] = [];
  const ids = new CallIds(usedCallIds);
  const deferredCalls = new Set<string>();
  const blocks = new ReplyBlocks(fold, emit);
  const inArguments = new WholeCharacters();
  let finish: ReturnType<StepReply['finish']>;
  let begun = false;
  let preliminaryBytes = 0;
  const reported: Reported = {};

  // A literal that begins with a spread takes V8 ten times as long, which counts for each token.
  const toChunk = (fields: ChunkFields): StreamChunk =>
    Object.assign({}, fields, base, { timestamp: now() });

  /** Emits `step_start` with the first output, so that a try without output leaves no trace. */
  function emit(fields: ChunkFields): StreamChunk[] {
    const made = toChunk(fields);
    fold.accept(made);
    if ('toolCallId' in made && deferredCalls.has(String(made.toolCallId))) return [];
    if (begun) return [made];
    begun = true;
    return [toChunk({ type: 'step_start', stepId: `s${String(base.step)}` }), made];
  }

  function extendArguments(toolCallId: string, delta: string): StreamChunk[] {
    const before = fold.argumentText.get(toolCallId);
    // The rest of too long arguments is not shown, and the call is refused.
    if (delta === '' || before === undefined || before.length > LIMITS.callInputBytes) return [];
    return emit({ type: 'tool_arg_stream_delta', toolCallId, delta });
  }

  function endArguments(id: string): StreamChunk[] {
    const rest = inArguments.end(id);
    return rest === '' ? [] : extendArguments(ids.toSessionId(id), rest);
  }

  /** Shows that the model makes a call, unless its chunks wait or nobody may see it. */
  function openCall(toolCallId: string, toolName: string): StreamChunk[] {
    const isHidden = toolName === FINISH_TOOL_NAME || isDeferred(toolName);
    if (isHidden) deferredCalls.add(toolCallId);
    const mark = isClients(toolName) && { byClient: true };
    const left = blocks.leave(isHidden);
    return [...left, ...emit({ type: 'tool_arg_stream_start', toolCallId, toolName, ...mark })];
  }

  function callPart(toolCallId: string) {
    const part = fold.parts.find(
      (made) => made.type === 'tool-call' && made.toolCallId === toolCallId,
    );
    return part?.type === 'tool-call' ? part : undefined;
  }

  function takeCall(part: LanguageModelV4ToolCall): StreamChunk[] {
    const { input } = part;
    const toolCallId = ids.toSessionId(part.toolCallId);
    const toolName = toToolName(part.toolName);
    const chunks = endArguments(part.toolCallId);
    const metadata = storableOf(part.providerMetadata) as object | undefined;
    const told = toShownMetadata(metadata);
    if (part.providerExecuted === true) {
      const made = toPartialInput(input);
      // The row keeps the chunk's arguments, so that history matches the live view.
      const args = isObject(made) && !isTooLargeToShow([made, told]) ? made : {};
      const marks = { providerExecuted: true, byProvider: true, ...told };
      chunks.push(...blocks.leave(false));
      chunks.push(...emit({ type: 'tool_start', toolCallId, toolName, arguments: args, ...marks }));
    } else {
      // A repeated id names another call.
      ids.close(part.toolCallId);
      if (!fold.argumentText.has(toolCallId)) chunks.push(...openCall(toolCallId, toolName));
      const byClient = callPart(toolCallId)?.byClient === true;
      calls.push({ toolCallId, toolName, input, ...(byClient && { byClient }), ...told });
    }
    keepMetadata(callPart(toolCallId), metadata);
    return chunks;
  }

  /** Takes the provider's own result of a call in this reply or an earlier one. */
  function takeResult(part: LanguageModelV4ToolResult): StreamChunk[] {
    const toolCallId = ids.known(part.toolCallId);
    if (toolCallId === undefined) return [];
    const kept = toKept(part);
    const { result, ...failed } = toShownResult(kept);
    const call = { toolCallId, toolName: toToolName(part.toolName), providerExecuted: true };
    if (part.preliminary === true) {
      const bytes = Buffer.byteLength(JSON.stringify(result));
      preliminaryBytes += bytes;
      const isShown =
        bytes <= LIMITS.preliminaryBytes && preliminaryBytes <= LIMITS.callPreliminaryBytes;
      return isShown ? emit({ type: 'tool_output_preliminary', ...call, result }) : [];
    }
    const chunks = emit({ type: 'tool_end', ...call, result, ...failed, byProvider: true });
    const stored = fold.parts.findLast(
      (each) => each.type === 'tool-result' && each.toolCallId === toolCallId,
    );
    if (stored?.type === 'tool-result') {
      keepMetadata(Object.assign(stored, kept), part.providerMetadata);
    }
    return chunks;
  }

  /**
   * Denies a call for which the provider wants an approval: no person can answer it, and the AI SDK
   * does not send it back.
   */
  function denyAsked(toolCallId: string): StreamChunk[] {
    const call = callPart(ids.known(toolCallId) ?? '');
    if (call?.kind !== 'provider') return [];
    const why = 'people cannot approve what the provider carries out.';
    const result = { type: 'execution-denied', reason: `provider_approval_unsupported: ${why}` };
    const { toolName } = call;
    return takeResult({ type: 'tool-result', toolCallId, toolName, result, isError: true });
  }

  const refuse = ({ error, code }: { error: string; code: string }): StreamChunk[] => [
    toChunk({ type: 'error', error, code, recoverable: true }),
  ];

  function showAttachment(
    part: LanguageModelV4Source | LanguageModelV4File,
    kept: KeptFile | undefined,
  ): StreamChunk[] {
    if (kept !== undefined && 'error' in kept) return refuse(kept);
    const fields = toAttachment(part, kept?.url);
    const isOurs = kept !== undefined || fields.type === 'source_document';
    if (!isOurs && !isShownUrl(fields.type, fields.url)) return [];
    if (Buffer.byteLength(JSON.stringify(fields)) > MAX_ATTACHMENT_BYTES) return refuse(TOO_LARGE);
    const metadata = storableOf(part.providerMetadata) as object | undefined;
    const told = { ...fields, ...toShownMetadata(metadata) };
    const isRoom = Buffer.byteLength(JSON.stringify(told)) <= MAX_ATTACHMENT_BYTES;
    const chunks = emit(isRoom ? told : fields);
    keepMetadata(fold.parts.at(-1), metadata);
    return chunks;
  }

  /** Keeps a part that pages do not show and the provider wants back. */
  function keepUnseen(
    part: Extract<LanguageModelV4StreamPart, { type: 'custom' | 'reasoning-file' }>,
    kept: KeptFile | undefined,
  ): StreamChunk[] {
    if (kept !== undefined && 'error' in kept) return refuse(kept);
    const stands =
      part.type === 'custom'
        ? { type: part.type, kind: part.kind }
        : { type: part.type, url: kept?.url ?? toUrl(part), mediaType: part.mediaType };
    const unseen: MarkedPart = { type: 'reasoning', text: '', stands };
    fold.parts.push(unseen);
    keepMetadata(unseen, part.providerMetadata);
    return [];
  }

  function accept(part: LanguageModelV4StreamPart, kept?: KeptFile): StreamChunk[] {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return blocks.start(typeOf(part), part.id, part.providerMetadata);
      case 'text-delta':
      case 'reasoning-delta':
        return blocks.extend(typeOf(part), part.id, part.delta, part.providerMetadata);
      case 'text-end':
      case 'reasoning-end':
        return blocks.end(typeOf(part), part.id, part.providerMetadata);
      case 'tool-input-start':
        return openCall(ids.toSessionId(part.id), toToolName(part.toolName));
      case 'tool-input-delta':
        return extendArguments(ids.toSessionId(part.id), inArguments.extend(part.id, part.delta));
      case 'tool-input-end':
        return endArguments(part.id);
      case 'tool-call':
        return takeCall(part);
      case 'tool-result':
        return takeResult(part);
      case 'tool-approval-request':
        return denyAsked(part.toolCallId);
      case 'source':
      case 'file':
        return showAttachment(part, kept);
      case 'reasoning-file':
      case 'custom':
        return keepUnseen(part, kept);
      case 'stream-start':
      case 'response-metadata':
        Object.assign(reported, toReported(part));
        return [];
      case 'finish': {
        Object.assign(reported, toReported(part));
        const reason = toFinishReason(part);
        finish = { reason, usage: toUsage(part.usage) };
        return blocks.endAll();
      }
      default:
        return [];
    }
  }

  return {
    nameCall: (id, take) => ids.name(id, take),
    accept,
    knownId: (id) => ids.known(id),
    fold,
    calls,
    deferredCalls,
    begun: () => begun,
    reported,
    finish: () => finish,
  };
}

function typeOf({ type }: LanguageModelV4StreamPart): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

/** Makes a name a valid id of the protocol; a model may invent any text. */
function toToolName(name: string): string {
  return name === '' ? 'unnamed' : startOf(name, LIMITS.idChars);
}

function keepMetadata(part: MarkedPart | AssistantPart | undefined, metadata: unknown): void {
  const storable = storableOf(metadata);
  if (part !== undefined && storable !== undefined) {
    Object.assign(part, { providerMetadata: storable });
  }
}

/** Converts a result for the row; the provider wants it back in its own form. */
function toKept(
  part: LanguageModelV4ToolResult,
): Pick<Extract<AssistantPart, { type: 'tool-result' }>, 'output' | 'isError'> {
  const { result, isError } = part;
  const failed = (output: string) => ({ output, isError: true });
  const fault = findJsonFault(result);
  if (fault !== undefined) return failed(`The result cannot be kept: ${fault}.`);
  if (Buffer.byteLength(JSON.stringify(result)) > LIMITS.answerBytes) {
    return failed('The result is too large.');
  }
  return isError === true ? { output: result, isError } : { output: result };
}

/** @param keptAt address of the stored file */
function toAttachment(part: LanguageModelV4Source | LanguageModelV4File, keptAt?: string) {
  if (part.type === 'file') {
    return { type: 'file', url: keptAt ?? toUrl(part), mediaType: part.mediaType } as const;
  }
  const { id: sourceId } = part;
  if (part.sourceType === 'url') {
    return { type: 'source_url', sourceId, url: part.url, title: part.title } as const;
  }
  const { mediaType, title, filename } = part;
  const named = filename === undefined ? {} : { filename };
  return { type: 'source_document', sourceId, mediaType, title, ...named } as const;
}

/** Returns a data URL, or the provider's URL if it keeps the file. */
function toUrl({ data, mediaType }: MadeFile): string {
  if (data.type === 'url') return data.url.toString();
  const bytes = data.data;
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64');
  return `data:${mediaType};base64,${text}`;
}

/**
 * Counts a stream without the provider's completion signal as failed, since its reply may be cut. Some packages say
 * `interrupted`; others end such a stream as `other`, without the provider's reason and usage.
 */
function toFinishReason({ finishReason: { unified, raw }, usage }: Finish): FinishReason {
  const isSilent =
    unified === 'other' && raw === undefined && !toTokenCount(usage.outputTokens.total);
  if (unified === 'interrupted' || isSilent) return 'error';
  const known: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error'];
  return known.includes(unified) ? unified : 'other';
}

function toUsage({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: toTokenCount(input.total) ?? 0,
    outputTokens: toTokenCount(output.total) ?? 0,
    ...ifKnown({
      cachedTokens: toTokenCount(input.cacheRead),
      cacheWriteTokens: toTokenCount(input.cacheWrite),
      reasoningTokens: toTokenCount(output.reasoning),
    }),
  };
}

/** Facts about a reply that its provider reports beside it, as far as they are small. */
export type Reported = Partial<
  Pick<
    Answered,
    'at' | 'responseId' | 'responseModelId' | 'warnings' | 'rawFinishReason' | 'providerMetadata'
  >
>;

/** Limit of reported fields, which may have any size; larger values are dropped. */
const MAX_BYTES = 16 * 1024;

/**
 * Returns the facts in a part of a model's stream. An application's own models may report values that
 * the types forbid. Pure.
 */
export function toReported(part: LanguageModelV4StreamPart): Reported {
  switch (part.type) {
    case 'stream-start': {
      const { warnings } = part as Partial<typeof part>;
      const some = Array.isArray(warnings) && warnings.length > 0;
      return some ? ifKnown({ warnings: smallOf(warnings) }) : {};
    }
    case 'response-metadata':
      return ifKnown({
        responseId: textOf(part.id),
        responseModelId: textOf(part.modelId),
        at: timeOf(part.timestamp),
      });
    case 'finish':
      return ifKnown({
        rawFinishReason: textOf(part.finishReason.raw),
        providerMetadata: smallOf(part.providerMetadata),
      });
    default:
      return {};
  }
}

function ifKnown(fields: Readonly<Record<string, unknown>>): Reported & Partial<Usage> {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

function textOf(text: unknown): string | undefined {
  return typeof text !== 'string' || text.length > 1_000 ? undefined : text;
}

/** Returns a time only if it is finite, as the record requires. */
function timeOf(time: unknown): number | undefined {
  const ms = time instanceof Date ? time.getTime() : NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

function smallOf<Value>(value: Value): Value | undefined {
  const storable = storableOf(value) as Value | undefined;
  if (storable === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(storable)) > MAX_BYTES ? undefined : storable;
}

import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { GeneratedFile } from 'ai';
import type { AgentDefinition } from '../../agents/definitions.js';
import type { FinishEvent, HookPlace, StepRecord } from '../../agents/step-hooks.js';
import type { Usage } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { Answered, AssistantPart, AssistantRow, Row, ToolRow } from '../../protocol/rows.js';
import { toMessages } from './prompt.js';
import { modelNameOf } from './spending.js';

/** Returns true if the agent's own code reads the steps of a turn; their rows keep the usage. */
export function readsSteps(agent: AgentDefinition): boolean {
  const { stopWhen, prepareStep, onStepFinish, onFinish } = agent;
  return [stopWhen, prepareStep, onStepFinish, onFinish].some((hook) => hook !== undefined);
}

/** Returns the index of a reply's first row, or the number of rows if the reply has none. */
export function startOfReply(rows: readonly Row[], messageId: string): number {
  const at = rows.findIndex((row) => row.role === 'assistant' && row.messageId === messageId);
  return at < 0 ? rows.length : at;
}

/**
 * Converts a turn's rows to steps of the AI SDK. Fields that rows do not keep, such as the request
 * and the time of tools, stay empty. Pure.
 */
export function toStepRecords(
  agent: AgentDefinition,
  rows: readonly Row[],
  messageId: string,
): StepRecord[] {
  const first = startOfReply(rows, messageId);
  const results = new Map<string, ToolRow>();
  for (const row of rows.slice(first)) {
    if (row.role === 'tool') results.set(row.toolCallId, row);
  }
  const steps: StepRecord[] = [];
  for (const [index, row] of rows.entries()) {
    if (index < first || row.role !== 'assistant' || row.messageId !== messageId) continue;
    if (row.display === true || row.interrupted !== undefined) continue;
    // Computed on access: all steps' messages together are long.
    const messages = (): LanguageModelV4Prompt => {
      let end = index + 1;
      while (rows[end]?.role === 'tool') end += 1;
      return toMessages(rows.slice(index, end)).messages;
    };
    steps.push(toRecord(agent, row, results, steps.length, messages));
  }
  return steps;
}

/** Sums usage over steps; unknown usage counts as 0. */
export function toTotalUsage(steps: readonly StepRecord[]): StepRecord['usage'] {
  const total: Usage = { inputTokens: 0, outputTokens: 0 };
  for (const { usage } of steps) {
    total.inputTokens += usage.inputTokens ?? 0;
    total.outputTokens += usage.outputTokens ?? 0;
    total.cachedTokens = (total.cachedTokens ?? 0) + (usage.inputTokenDetails.cacheReadTokens ?? 0);
    total.cacheWriteTokens =
      (total.cacheWriteTokens ?? 0) + (usage.inputTokenDetails.cacheWriteTokens ?? 0);
    total.reasoningTokens =
      (total.reasoningTokens ?? 0) + (usage.outputTokenDetails.reasoningTokens ?? 0);
  }
  return toUsage(total);
}

type Content = Record<string, unknown> & { type: string };

function toRecord(
  agent: AgentDefinition,
  row: AssistantRow,
  results: ReadonlyMap<string, ToolRow>,
  stepNumber: number,
  messages: () => LanguageModelV4Prompt,
): StepRecord {
  const content = toContent(agent, row, results);
  const ofType = (...types: string[]): Content[] =>
    content.filter(({ type }) => types.includes(type));
  const toolCalls = ofType('tool-call');
  const toolResults = ofType('tool-result');
  // Nothing is known of an imported step.
  const { answered = { provider: '', modelId: modelNameOf(agent.llmConfig), at: 0 } } = row;
  const { provider, modelId, at, responseId = '', responseModelId = modelId }: Answered = answered;
  const { warnings, rawFinishReason, providerMetadata }: Partial<Answered> = answered;
  const usage = toUsage(row.usage);
  const isStatic = (part: Content): boolean => part['dynamic'] !== true;
  const isDynamic = (part: Content): boolean => part['dynamic'] === true;
  const hasCalls = toolCalls.length > 0;
  // The object has the fields of both versions of the AI SDK.
  return {
    stepNumber,
    model: { provider, modelId },
    content,
    text: textOf(ofType('text')),
    reasoning: ofType('reasoning', 'reasoning-file').map(toReasoningOutput),
    reasoningText: textOf(ofType('reasoning')) || undefined,
    files: ofType('file').map(({ file }) => file),
    sources: ofType('source'),
    toolCalls,
    staticToolCalls: toolCalls.filter(isStatic),
    dynamicToolCalls: toolCalls.filter(isDynamic),
    toolResults,
    staticToolResults: toolResults.filter(isStatic),
    dynamicToolResults: toolResults.filter(isDynamic),
    finishReason: row.finishReason ?? (hasCalls ? 'tool-calls' : 'stop'),
    rawFinishReason,
    usage,
    performance: toPerformance(answered, usage),
    warnings: warnings ?? [],
    request: {},
    response: {
      id: responseId,
      timestamp: new Date(at),
      modelId: responseModelId,
      get messages() {
        return messages();
      },
    },
    providerMetadata,
  } as unknown as StepRecord;
}

function textOf(parts: readonly Content[]): string {
  return parts.map(({ text }) => String(text)).join('');
}

function toContent(
  agent: AgentDefinition,
  row: AssistantRow,
  results: ReadonlyMap<string, ToolRow>,
): Content[] {
  const toMark = (toolName: string) => toDynamicMark(agent, toolName);
  const outcomes: Content[] = [];
  const inputs = new Map<string, unknown>();
  const replied = row.parts.flatMap((part): Content[] => {
    switch (part.type) {
      case 'text':
        return [{ ...part }];
      case 'reasoning':
        return [toReasoning(part)];
      case 'tool-call': {
        const { toolCallId, toolName, input, providerMetadata } = part;
        if (toolName === FINISH_TOOL_NAME) return [];
        const mark = part.kind === 'provider' ? { providerExecuted: true } : {};
        const result = results.get(toolCallId);
        const isInvalid = INVALID.has(result?.errorCode) && result?.decision === undefined;
        const marks = { ...mark, ...(isInvalid ? { dynamic: true } : toMark(toolName)) };
        const call = { toolCallId, toolName, input, providerMetadata, ...marks };
        const fault = isInvalid ? { invalid: true, error: result?.error } : {};
        inputs.set(toolCallId, input);
        outcomes.push(...toResult(call, result));
        return [{ type: 'tool-call', ...call, ...fault }];
      }
      case 'tool-result': {
        const { toolCallId, toolName, output, isError, providerMetadata } = part;
        const marks = { providerExecuted: true, providerMetadata, ...toMark(toolName) };
        const call = { toolCallId, toolName, input: inputs.get(toolCallId), ...marks };
        return isError === true
          ? [{ type: 'tool-error', ...call, error: output }]
          : [{ type: 'tool-result', ...call, output }];
      }
      case 'source-url':
        return [{ ...part, type: 'source', sourceType: 'url', id: part.sourceId }];
      case 'source-document':
        return [{ ...part, type: 'source', sourceType: 'document', id: part.sourceId }];
      case 'file': {
        const { providerMetadata } = part;
        return [
          { type: 'file', file: toMadeFile(part), ...(providerMetadata && { providerMetadata }) },
        ];
      }
    }
  });
  // The AI SDK puts the model's parts before the results of its tools.
  return [...replied, ...outcomes];
}

/** Codes of calls that name no tool or do not fit it. */
const INVALID = new Set<string | undefined>(['invalid_tool_input', 'unknown_tool']);

/** Marks a tool without TypeScript types: a `dynamicTool()`, a server's tool, or an unknown one. */
export function toDynamicMark({ tools }: AgentDefinition, toolName: string): { dynamic?: true } {
  const tool = tools.find(({ name }) => name === toolName);
  return tool === undefined || tool.isDynamic === true ? { dynamic: true } : {};
}

function toReasoning({ stands, ...part }: Extract<AssistantPart, { type: 'reasoning' }>): Content {
  if (stands === undefined) return part;
  const { text: _none, type: _reasoning, ...more } = part;
  if (stands.type === 'custom') return { ...stands, ...more };
  return { type: stands.type, file: toMadeFile(stands), ...more };
}

/** AI SDK 7 has the provider's metadata as `providerOptions`; AI SDK 6 keeps its name. */
function toReasoningOutput({ file, ...part }: Content): Content {
  const { providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (file === undefined) return { ...part, ...options };
  const { base64: data, mediaType } = file as { base64: string; mediaType: string };
  return { ...part, data, mediaType, ...options };
}

/** Returns a file of the AI SDK; a stored or remote file has only its address. */
export function toMadeFile({ url, mediaType }: { url: string; mediaType: string }): GeneratedFile {
  const base64 = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1] ?? '';
  const file = {
    base64,
    mediaType,
    url,
    get uint8Array() {
      return new Uint8Array(Buffer.from(base64, 'base64'));
    },
  };
  return file;
}

function toResult(call: object, row: ToolRow | undefined): Content[] {
  if (row === undefined || row.isEnd === true) return [];
  if (row.denied === true) return [{ type: 'tool-output-denied', ...call }];
  return row.error === undefined
    ? [{ type: 'tool-result', ...call, output: row.output ?? null }]
    : [{ type: 'tool-error', ...call, error: row.error }];
}

export function toUsage(usage: Usage | undefined): StepRecord['usage'] {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } =
    usage ?? {};
  const known = inputTokens !== undefined && outputTokens !== undefined;
  return {
    inputTokens,
    inputTokenDetails: {
      noCacheTokens: known
        ? Math.max(0, inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0))
        : undefined,
      cacheReadTokens: cachedTokens,
      cacheWriteTokens,
    },
    outputTokens,
    outputTokenDetails: {
      textTokens: known ? Math.max(0, outputTokens - (reasoningTokens ?? 0)) : undefined,
      reasoningTokens,
    },
    totalTokens: known ? inputTokens + outputTokens : undefined,
    cachedInputTokens: cachedTokens,
    reasoningTokens,
  } as StepRecord['usage'];
}

/**
 * Returns a reply's times in the form of AI SDK 7. The times of tools are not kept, so the step's
 * time is the reply's; unknown values are 0, or undefined where the type allows it. Pure.
 */
export function toPerformance(
  { ms = 0, firstMs }: Partial<Answered>,
  { inputTokens = 0, outputTokens = 0 }: Partial<StepRecord['usage']>,
): StepRecord['performance'] {
  const rate = (tokens: number, within: number): number =>
    within > 0 ? (tokens * 1_000) / within : 0;
  return {
    effectiveOutputTokensPerSecond: rate(outputTokens, ms),
    outputTokensPerSecond: firstMs === undefined ? undefined : rate(outputTokens, ms - firstMs),
    inputTokensPerSecond: firstMs === undefined ? undefined : rate(inputTokens, firstMs),
    effectiveTotalTokensPerSecond: rate(inputTokens + outputTokens, ms),
    stepTimeMs: ms,
    responseTimeMs: ms,
    toolExecutionMs: {},
    timeToFirstOutputMs: firstMs,
  };
}

/** Lists that are concatenated over all steps. */
export const LISTS = [
  'content',
  'files',
  'sources',
  'toolCalls',
  'staticToolCalls',
  'dynamicToolCalls',
  'toolResults',
  'staticToolResults',
  'dynamicToolResults',
  'warnings',
] as const;

type AllSteps = (typeof LISTS)[number] | 'usage' | 'totalUsage' | 'steps';

/** Combines fields over all steps. Pure. */
export function toAllSteps(steps: StepRecord[]): Pick<FinishEvent, AllSteps> {
  const usage = toTotalUsage(steps);
  const all = (field: (typeof LISTS)[number]): unknown[] =>
    steps.flatMap((step): unknown[] => [...(step[field] ?? [])]);
  const lists = Object.fromEntries(LISTS.map((field) => [field, all(field)])) as unknown as Pick<
    FinishEvent,
    (typeof LISTS)[number]
  >;
  return { ...lists, usage, totalUsage: usage, steps };
}

/** Returns a run's end in AI SDK 7's form: lists of all steps, other fields of the last. Pure. */
export function toFinishEvent(
  steps: StepRecord[],
  finalStep: StepRecord,
  place: HookPlace,
): FinishEvent {
  return {
    ...finalStep,
    ...toAllSteps(steps),
    ...place,
    finalStep,
    // Computed on access: all steps' messages together are long.
    get responseMessages() {
      return steps.flatMap(({ response }) => response.messages);
    },
  };
}

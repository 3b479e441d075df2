import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { DefaultGeneratedFile, type GeneratedFile } from 'ai';
import {
  addLanguageModelUsage,
  asLanguageModelUsage,
  createNullLanguageModelUsage,
  DefaultStepResult,
} from 'ai/internal';
import type { AgentDefinition } from '../../agents/definitions.js';
import type { FinishEvent, HookPlace, StepRecord } from '../../agents/step-hooks.js';
import type { Usage } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { AssistantPart, AssistantRow, Row, ToolRow } from '../../protocol/rows.js';
import { toPrompt } from './prompt.js';
import { modelNameOf } from './spending.js';

/** True for agents whose own code is given the steps of a turn; their rows keep the usage. */
export function readsSteps(agent: AgentDefinition): boolean {
  const { stopWhen, prepareStep, onStepFinish, onFinish } = agent;
  return [stopWhen, prepareStep, onStepFinish, onFinish].some((hook) => hook !== undefined);
}

/** Index of the first row of a turn's reply; the number of rows if there is none. */
export function startOfReply(rows: readonly Row[], messageId: string): number {
  const at = rows.findIndex((row) => row.role === 'assistant' && row.messageId === messageId);
  return at < 0 ? rows.length : at;
}

/**
 * The steps of a turn as the AI SDK describes them, from its rows. What other parts of the AI SDK put
 * into them and rows do not keep, such as the request and times, is empty. Pure.
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
    // Made only for those who look: all steps' messages together are long.
    const messages = (): LanguageModelV4Prompt => {
      let end = index + 1;
      while (rows[end]?.role === 'tool') end += 1;
      return toPrompt('', rows.slice(index, end));
    };
    steps.push(toRecord(agent, row, results, steps.length, messages));
  }
  return steps;
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
  const hasCalls = content.some(({ type }) => type === 'tool-call');
  const { provider, modelId } = row.model ?? {
    provider: '',
    modelId: modelNameOf(agent.llmConfig),
  };
  const response = {
    ...{ id: '', timestamp: new Date(0), modelId },
    get messages() {
      return messages();
    },
  };
  return new DefaultStepResult({
    ...{ callId: '', stepNumber, provider, modelId, content, response },
    finishReason: row.finishReason ?? (hasCalls ? 'tool-calls' : 'stop'),
    usage: toUsage(row.usage),
    performance: NO_TIMES,
    warnings: [],
    request: {},
  } as unknown as ConstructorParameters<typeof DefaultStepResult>[0]);
}

/** How long a step took is told by traces and metrics. */
export const NO_TIMES = {
  effectiveOutputTokensPerSecond: 0,
  outputTokensPerSecond: undefined,
  inputTokensPerSecond: undefined,
  effectiveTotalTokensPerSecond: 0,
  stepTimeMs: 0,
  responseTimeMs: 0,
  toolExecutionMs: {},
  timeToFirstOutputMs: undefined,
} satisfies StepRecord['performance'];

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
        const { toolCallId, toolName, output, isError } = part;
        const input = inputs.get(toolCallId);
        const call = { toolCallId, toolName, input, providerExecuted: true, ...toMark(toolName) };
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
  // As in the AI SDK, what the model wrote stands before what its tools returned.
  return [...replied, ...outcomes];
}

/** Codes of calls that name no tool, or do not fit it. */
const INVALID = new Set<string | undefined>(['invalid_tool_input', 'unknown_tool']);

/** Of its tool, TypeScript knows no types: of a `dynamicTool()`, a server's, or none at all. */
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

/** As the AI SDK has it; of a file that is stored or elsewhere only the address is known. */
export function toMadeFile(file: { url: string; mediaType: string }): GeneratedFile {
  const { url, mediaType } = file;
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1] ?? '';
  return Object.assign(new DefaultGeneratedFile({ data, mediaType }), { url });
}

function toResult(call: object, row: ToolRow | undefined): Content[] {
  if (row === undefined || row.isEnd === true) return [];
  if (row.denied === true) return [{ type: 'tool-output-denied', ...call }];
  return row.error === undefined
    ? [{ type: 'tool-result', ...call, output: row.output ?? null }]
    : [{ type: 'tool-error', ...call, error: row.error }];
}

export function toUsage(usage: Usage | undefined): StepRecord['usage'] {
  if (usage === undefined) return createNullLanguageModelUsage();
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const noCache = Math.max(0, inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0));
  const text = Math.max(0, outputTokens - (reasoningTokens ?? 0));
  return asLanguageModelUsage({
    inputTokens: {
      ...{ total: inputTokens, noCache },
      ...{ cacheRead: cachedTokens, cacheWrite: cacheWriteTokens },
    },
    outputTokens: { total: outputTokens, text, reasoning: reasoningTokens },
  });
}

/** What the lists of all steps have together. */
const LISTS = [
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

/** What is of all steps. Pure. */
export function toAllSteps(steps: StepRecord[]): Pick<FinishEvent, AllSteps> {
  const usage = steps.reduce(
    (sum, step) => addLanguageModelUsage(sum, step.usage),
    createNullLanguageModelUsage(),
  );
  const all = (field: (typeof LISTS)[number]): unknown[] =>
    steps.flatMap((step): unknown[] => [...(step[field] ?? [])]);
  const lists = Object.fromEntries(LISTS.map((field) => [field, all(field)])) as unknown as Pick<
    FinishEvent,
    (typeof LISTS)[number]
  >;
  return { ...lists, usage, totalUsage: usage, steps };
}

/** The end of a run as AI SDK 7 describes it: what is long is of all steps, the rest of the last one. Pure. */
export function toFinishEvent(
  steps: StepRecord[],
  finalStep: StepRecord,
  place: HookPlace,
): FinishEvent {
  const { text, reasoning, reasoningText } = finalStep;
  return {
    ...finalStep,
    ...{ text, reasoning, reasoningText },
    ...toAllSteps(steps),
    ...place,
    finalStep,
    // Made only for those who look: all steps' messages together are long.
    get responseMessages() {
      return steps.flatMap(({ response }) => response.messages);
    },
  };
}

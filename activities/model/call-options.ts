import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider';
import { mergeObjects } from 'ai/internal';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import {
  Sampling,
  type AgentModel,
  type LlmConfig,
  type SamplingSettings,
} from '../../agents/llm-settings.js';
import type { PreparedStep, CompactionRecord } from '../../agents/step-hooks.js';
import { toResponseFormat } from '../../agents/ai-sdk/output-schema.js';
import { isOlderModel, resolveModel } from '../../agents/model.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { Eased, Row, ToolRow, UserRow } from '../../protocol/rows.js';
import { providerOf } from '../../protocol/telemetry.js';
import type { Files } from '../../store/contract/files.js';
import type { ActivityDeps } from '../deps.js';
import { foreignTo, toAcceptable, type Asked } from './acceptable-prompt.js';
import { inputSchemaOf } from './call-input.js';
import { easedOf, shorten } from './eased-prompt.js';
import { toFinishTool } from './finish-tool.js';
import { toModelOutputs } from './model-outputs.js';
import { prepareMessages, toPromptMessages } from './prepare-messages.js';
import { readPromptFiles } from './prompt-files.js';
import { createFetchFile, type FetchFile } from './fetch-file.js';
import { toMessages } from './prompt.js';
import {
  untilStalled,
  type ClaimedStep,
  type ModelCall,
  type ModelRequest,
  type StepMiddleware,
} from './middleware.js';
import { modelNameOf } from './spending.js';
import { startOfReply, toStepRecords } from './step-records.js';

type Options = ModelCall['options'];

/** Prepares the model call. @throws RequestFault, and errors of the agent's own functions */
export function prompts({ store, fileHosts: hosts = [] }: ActivityDeps): StepMiddleware {
  const fetchFile = hosts.length === 0 ? undefined : createFetchFile({ hosts });
  return (step) => async (request, next) => {
    request.call = await toModelCall(step, request, store.files, fetchFile);
    return next(request);
  };
}

/**
 * @param files files that messages name by reference; absent: all are missing
 * @param fetchFile fetches files by address; absent: the model gets the addresses
 */
export async function toModelCall(
  asked: Pick<ClaimedStep, 'agent' | 'loaded' | 'rows' | 'claim' | 'attempt' | 'progress' | 'warn'>,
  { ref, choice, turn, compactions }: Pick<ModelRequest, 'ref' | 'choice' | 'turn' | 'compactions'>,
  files?: Files,
  fetchFile?: FetchFile,
): Promise<ModelCall> {
  const { agent, rows, attempt, progress } = asked;
  const { messageId, waits } = asked.claim;
  const state = asked.loaded?.state ?? {};
  const signal = untilStalled(asked);
  // Attempts that only waited do not count as tries.
  const tries = Math.max(1, attempt.number - waits) + progress.failures;
  const { systemPrompt, llmConfig } = agent;
  const own = typeof systemPrompt === 'function' ? systemPrompt(state) : systemPrompt;
  const { sessionId, runId, step, forceFinish = false } = ref;
  const resolve = (given: AgentModel): LanguageModelV4 => resolveModel(given, agent.middleware);
  const provider = providerOf(resolve(choice.model));
  // Only the log gets the error: it may hold facts that the model must not see.
  const failed = (error: unknown, { toolName, toolCallId }: ToolRow): void => {
    const message = 'a result was not put into words for the model';
    asked.warn(message, error, { toolName, toolCallId });
  };
  const outputs = await toModelOutputs(agent.tools, rows, signal, { provider, failed });
  const fetching = fetchFile && {
    fetch: fetchFile,
    supported: await resolve(choice.model).supportedUrls,
  };
  const contents = await readPromptFiles(files, sessionId, rows, signal, fetching);
  const { messages: all, rowOf } = toMessages(rows, outputs, contents);
  const start = startOfReply(rows, messageId);
  const { pricing = llmConfig.pricing } = choice;
  const scope = {
    sessionId,
    runId,
    step,
    state,
    instructions: own,
    steps: agent.prepareStep === undefined ? [] : toStepRecords(agent, rows, messageId),
    messageMetadata: rows.slice(0, start).findLast(isShown)?.metadata,
    initial: rowOf.filter((row) => row < start).length,
    compaction: compactions?.record(rowOf, { pricing }) ?? NO_COMPACTION,
  };
  const { messages, changes } = await prepareMessages(agent, all, scope, signal);
  const instructions = changes.instructions ?? own;
  const tools = forceFinish ? [] : toActive(agent, changes);
  // A model that `prepareStep` chose replaces the first model only, not the fallbacks.
  const model = resolve(turn.index > 0 ? choice.model : (changes.model ?? choice.model));
  const format = await toFormat(agent, { model, tools, forceFinish });
  // A model that writes the output format gets no other tools if it has none, as in the AI SDK.
  const isWritten = format.responseFormat !== undefined && tools.length === 0;
  const offered = isWritten ? {} : await toToolOptions(agent, tools, changes, forceFinish);
  const providerOptions = mergeObjects(llmConfig.providerOptions, changes.providerOptions);
  const isForeign = foreignTo(model, rows);
  const told: Omit<Asked, 'isForeign'> = {
    model: {
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: await model.supportedUrls,
    },
    tools: offered.tools?.map(({ name }) => name) ?? [],
    forceFinish,
    takesAllFiles: providerOptions?.['openai']?.['passThroughUnsupportedFiles'] === true,
  };
  const given = [...(await toPromptMessages([], instructions)), ...messages];
  const toAccepted = (eased: Eased | undefined): LanguageModelV4Prompt => {
    const isLeft = eased?.bare === true ? () => true : isForeign;
    const prompt = toAcceptable(given, { ...told, isForeign: isLeft });
    return eased?.chars === undefined ? prompt : shorten(prompt, eased.chars);
  };
  const options: Omit<Options, 'prompt'> = {
    ...offered,
    ...format,
    ...toSampling(llmConfig),
    ...toSampling(changes),
    ...withinCost(llmConfig, choice.pricing, changes.maxOutputTokens),
    headers: llmConfig.headers && { ...llmConfig.headers },
    providerOptions: { ...providerOptions, helix: { attempt: tries, sessionId, runId, step } },
  };
  const withEased = (eased: Eased | undefined): ModelCall => ({
    model,
    name: modelNameOf({ model }),
    pricing,
    options: { prompt: toAccepted(eased), ...options },
    tools,
    instructions,
    eased,
    withEased,
  });
  return withEased(easedOf(rows, model.modelId));
}

const NO_COMPACTION: CompactionRecord = {
  kept: undefined,
  keep: () => Promise.resolve(undefined),
};

/** Returns true for a message that a user sent. */
function isShown(row: Row): row is UserRow {
  return row.role === 'user' && row.hidden !== true;
}

/** Returns the settings that are set, so that a step's change keeps the agent's other settings. */
function toSampling(given: SamplingSettings): Partial<Options> {
  const names = Object.keys(Sampling) as (keyof SamplingSettings)[];
  return Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
  );
}

function withinCost(
  { maxOutputUsd, maxOutputTokens, ...own }: LlmConfig,
  pricing = own.pricing,
  wanted = maxOutputTokens,
): Partial<Options> {
  const price = pricing?.outputPerMTok ?? 0;
  if (maxOutputUsd === undefined || price === 0) return {};
  const max = Math.max(1, Math.floor((maxOutputUsd * 1_000_000) / price));
  return { maxOutputTokens: Math.min(max, wanted ?? max) };
}

function toActive(agent: AgentDefinition, changes: PreparedStep): readonly ToolDefinition[] {
  const names = changes.activeTools ?? agent.activeTools;
  if (names === undefined) return agent.tools;
  return agent.tools.filter(
    ({ name, listedAs }) => names.includes(name) || (listedAs && names.includes(listedAs)),
  );
}

/** Offers only the finish tool to a model that must submit its result. */
async function toToolOptions(
  agent: AgentDefinition,
  active: readonly ToolDefinition[],
  { toolChoice = agent.toolChoice }: PreparedStep,
  forceFinish: boolean,
): Promise<Pick<Options, 'tools' | 'toolChoice'>> {
  const finish = await toFinishTool(agent);
  if (finish !== undefined && forceFinish) {
    return { tools: [finish.tool], toolChoice: { type: 'tool', toolName: FINISH_TOOL_NAME } };
  }
  const tools = await Promise.all(active.map(toModelTool));
  if (finish !== undefined) tools.push(finish.tool);
  return tools.length === 0 ? {} : { tools, toolChoice: toChoice(toolChoice, active) };
}

/** Omits the format for a model that must submit its result by a call. */
async function toFormat(
  { outputSchema }: AgentDefinition,
  of: { model: LanguageModelV4; tools: readonly ToolDefinition[]; forceFinish: boolean },
): Promise<Pick<Options, 'responseFormat'>> {
  const isTaken = !of.forceFinish && (of.tools.length === 0 || !isOlderModel(of.model));
  const responseFormat = isTaken ? await toResponseFormat(outputSchema) : undefined;
  return responseFormat === undefined ? {} : { responseFormat };
}

function toChoice(
  choice: AgentDefinition['toolChoice'] = 'auto',
  tools: readonly ToolDefinition[],
): LanguageModelV4ToolChoice {
  if (typeof choice === 'string') return { type: choice };
  const { toolName } = choice;
  const listed = tools.find(({ listedAs }) => listedAs === toolName);
  return { type: 'tool', toolName: listed?.name ?? toolName };
}

type ModelTool = LanguageModelV4FunctionTool | LanguageModelV4ProviderTool;

const known = new WeakMap<ToolDefinition, Promise<ModelTool>>();

/** Converts a tool to the model's format, once per definition: converting schemas is costly. */
function toModelTool(tool: ToolDefinition): Promise<ModelTool> {
  const made = known.get(tool) ?? describe(tool);
  known.set(tool, made);
  return made;
}

async function describe(tool: ToolDefinition): Promise<ModelTool> {
  const { name, listedAs = name, forModel, provider } = tool;
  if (provider !== undefined) {
    const { id, args } = provider;
    return { type: 'provider', id, name, args: { ...args } };
  }
  const inputSchema = await inputSchemaOf(tool).jsonSchema;
  // The name stands for a description that a tool of the AI SDK lacks.
  const isDescribed = forModel === undefined || tool.description !== listedAs;
  const description = isDescribed ? tool.description : undefined;
  return { ...forModel, type: 'function', name, description, inputSchema };
}

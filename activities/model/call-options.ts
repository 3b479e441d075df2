import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { asSchema } from 'ai';
import type { AgentDefinition, ToolDefinition } from '../../agents/definitions.js';
import type { StepRef } from '../../protocol/activities.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import { toFinishTool } from './finish-tool.js';
import { toModelOutputs } from './model-outputs.js';
import { prepareMessages } from './prepare-messages.js';
import { toPrompt } from './prompt.js';

/** The input of one model call. */
export interface AskedStep {
  ref: StepRef;
  agent: AgentDefinition;
  /** The agent's own, as its schema gives it. */
  state: unknown;
  rows: readonly Row[];
  /** How often the model has been asked for this step, this time included. */
  tries: number;
}

type Options = Omit<LanguageModelV4CallOptions, 'abortSignal'>;

/** The options of a model call. */
export async function toCallOptions(
  { ref, agent, state, rows, tries }: AskedStep,
  signal: AbortSignal,
): Promise<Options> {
  const { systemPrompt, llmConfig } = agent;
  const system = typeof systemPrompt === 'string' ? systemPrompt : systemPrompt(state);
  const { temperature, maxOutputTokens } = llmConfig;
  const { sessionId, runId, step, forceFinish = false } = ref;
  const scope = { sessionId, runId, step, state };
  const outputs = await toModelOutputs(agent.tools, rows, signal);
  const messages = await prepareMessages(agent, toPrompt('', rows, outputs), scope, signal);
  const prompt = toSystemMessage(system).concat(forceFinish ? withRequest(messages) : messages);
  return {
    prompt,
    ...(await toToolOptions(agent, forceFinish)),
    temperature,
    maxOutputTokens,
    providerOptions: {
      ...llmConfig.providerOptions,
      helix: { attempt: tries, sessionId, runId, step },
    },
  };
}

function toSystemMessage(system: string): LanguageModelV4Prompt {
  return system === '' ? [] : [{ role: 'system', content: system }];
}

/** A model that has to hand in its result is offered nothing else. */
async function toToolOptions(
  agent: AgentDefinition,
  forceFinish: boolean,
): Promise<Pick<Options, 'tools' | 'toolChoice'>> {
  const finish = await toFinishTool(agent);
  if (finish !== undefined && forceFinish) {
    return { tools: [finish.tool], toolChoice: { type: 'tool', toolName: FINISH_TOOL_NAME } };
  }
  const tools = await toFunctionTools(agent.tools);
  if (finish !== undefined) tools.push(finish.tool);
  return tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' } };
}

/** Providers refuse a conversation that ends with the model's own message. */
function withRequest(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.at(-1)?.role === 'assistant' ? [...prompt, REQUEST] : prompt;
}

/** Marked as the runtime's own: the user did not write it. */
const REQUEST: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: `Hand in your result now: call "${FINISH_TOOL_NAME}".` }],
  providerOptions: { helix: { internal: true } },
};

const known = new WeakMap<ToolDefinition, Promise<LanguageModelV4FunctionTool>>();

/** Tools in the model's format. Made once per definition: schemas are costly to convert. */
export function toFunctionTools(
  tools: readonly ToolDefinition[],
): Promise<LanguageModelV4FunctionTool[]> {
  return Promise.all(tools.map(toFunctionTool));
}

function toFunctionTool(tool: ToolDefinition): Promise<LanguageModelV4FunctionTool> {
  let made = known.get(tool);
  if (made === undefined) {
    made = describe(tool);
    known.set(tool, made);
  }
  return made;
}

async function describe(tool: ToolDefinition): Promise<LanguageModelV4FunctionTool> {
  const { name, description, forModel } = tool;
  const inputSchema = await asSchema(forModel?.inputSchema ?? tool.inputSchema).jsonSchema;
  return { ...forModel, type: 'function', name, description, inputSchema };
}

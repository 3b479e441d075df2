import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import type { AgentDefinition } from '../../agents/definitions.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { StepRef } from '../../protocol/activities.js';
import type { Row } from '../../protocol/rows.js';
import { toFinishTool } from './finish-tool.js';
import { toFunctionTools } from './function-tools.js';
import { prepareMessages } from './prepare-messages.js';
import { toPrompt } from './prompt.js';

/** What one model call of a step is made from. */
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

/** What the model is asked. */
export async function toCallOptions(
  { ref, agent, state, rows, tries }: AskedStep,
  signal: AbortSignal,
): Promise<Options> {
  const { systemPrompt, llmConfig } = agent;
  const system = typeof systemPrompt === 'string' ? systemPrompt : systemPrompt(state);
  const { temperature, maxOutputTokens } = llmConfig;
  const { sessionId, runId, step, forceFinish = false } = ref;
  const scope = { sessionId, runId, step, state };
  const told = await prepareMessages(agent, toPrompt('', rows), scope, signal);
  const prompt = toSystemMessage(system).concat(forceFinish ? withRequest(told) : told);
  return {
    prompt,
    ...(await toToolOptions(agent, forceFinish)),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
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

/** Providers refuse a conversation that ends with the model's own words. */
function withRequest(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.at(-1)?.role === 'assistant' ? [...prompt, REQUEST] : prompt;
}

/** Marked as the runtime's own: it is no message of the user. */
const REQUEST: LanguageModelV4Message = {
  role: 'user',
  content: [{ type: 'text', text: `Hand in your result now: call "${FINISH_TOOL_NAME}".` }],
  providerOptions: { helix: { internal: true } },
};

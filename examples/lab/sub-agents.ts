import type { LanguageModel } from 'ai';
import { z } from 'zod';
import {
  createSubAgentTool,
  defineAgent,
  type AgentDefinition,
  type ToolDefinition,
} from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { withRulePrices } from '../rule-prices.js';

/** Attempts per step; scripts say how many of them fail. */
export const LAB_TRIES = 5;

const SYSTEM_PROMPT = 'You work for the lab agent. Do exactly what the script says.';
/** The scripted model validates entries when it performs them. */
const Script = z.array(z.unknown());
/** Script of `lab-report` calls without one. */
const USUAL_REPORT = [{ finish: { answer: 42 } }];

/** Settings of a lab agent's sub-agents. */
export interface Lab {
  name: string;
  model: LanguageModel;
  activities: RunShape | undefined;
}

/** Creates a sub-agent tool that performs a script with the given tools in its own session. */
export function createDelegate(
  { name, model, activities }: Lab,
  tools: readonly ToolDefinition[],
): ToolDefinition {
  return createSubAgentTool({
    name: 'delegate',
    description: 'Has another agent perform a script.',
    inputSchema: z.object({ script: Script }),
    agent: defineAgent({
      name: `${name}-child`,
      page: { title: 'Lab child', listed: false },
      activities,
      description: 'Performs the script that the lab agent passes to it.',
      systemPrompt: SYSTEM_PROMPT,
      tools,
      llmConfig: { ...withRulePrices(model), maxTries: LAB_TRIES },
    }),
  });
}

/** Creates an agent with a result schema, for direct conversations and as the lab agent's sub-agent. */
export function createReportAgent({ name, model, activities }: Lab): AgentDefinition {
  return defineAgent({
    name: `${name}-report`,
    activities,
    public: name === 'lab',
    page: { title: 'Lab report', listed: false },
    description: 'Performs a script that ends with an answer.',
    systemPrompt: SYSTEM_PROMPT,
    outputSchema: z.object({ answer: z.number() }),
    llmConfig: { ...withRulePrices(model), maxTries: LAB_TRIES },
  });
}

/** Creates the tool that delegates to the report agent. */
export function createReport(agent: AgentDefinition): ToolDefinition {
  return createSubAgentTool({
    name: 'report',
    description: 'Has another agent find the answer; by a script, if one is given.',
    inputSchema: z.object({ script: Script.default(USUAL_REPORT) }),
    agent,
  });
}

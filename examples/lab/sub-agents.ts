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

/** Scripts say how often a model fails; each step is tried five times. */
export const LAB_TRIES = 5;

const SYSTEM_PROMPT = 'You work for the lab agent. Do exactly what the script says.';
/** Entries are checked by the scripted model when it performs them. */
const Script = z.array(z.unknown());
/** The script of `lab-report` when the call has none. */
const USUAL_REPORT = [{ finish: { answer: 42 } }];

/** A lab agent that others work for. */
export interface Lab {
  name: string;
  model: LanguageModel;
  activities: RunShape | undefined;
}

/** Performs a script with the given tools, in a session of its own. */
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

/** An agent whose result has a form: it can be talked to, and the lab agent delegates to it. */
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

/** Has the report agent find the answer. */
export function createReport(agent: AgentDefinition): ToolDefinition {
  return createSubAgentTool({
    name: 'report',
    description: 'Has another agent find the answer; by a script, if one is given.',
    inputSchema: z.object({ script: Script.default(USUAL_REPORT) }),
    agent,
  });
}

import { isScriptedModel, type AgentDefinition, type LlmSettings } from '../agents/index.js';
import type { RunShape } from '../protocol/run.js';
import { createLabAgent } from './lab/agent.js';
import type { CountCharge, FindCharge } from './lab/tools.js';
import { createSupportAgent } from './support/agent.js';

export { createLabAgent } from './lab/agent.js';
export { isLabServed } from './lab/served.js';
export type { LabAgentConfig } from './lab/agent.js';
export type { CountCharge } from './lab/tools.js';
export { createSupportAgent } from './support/agent.js';

/** Dependencies and settings of the example agents. */
export interface ExampleAgentsConfig {
  /** Required in processes that execute tools. Default: the lab agent's `charge` fails. */
  readonly countCharge?: CountCharge;
  /** See `LabAgentConfig.findCharge`. */
  readonly findCharge?: FindCharge;
  /** Model of the agents for people. Without one, or with the scripted one, they follow their own rules. */
  readonly model?: LlmSettings['model'] | undefined;
  /** False leaves out the lab agent. Default: true. */
  readonly lab?: boolean;
  /** Shape of the lab agent's runs; `lab-leg` always has the shape `leg`. */
  readonly labShape?: RunShape | undefined;
}

/** Creates all example agents. The lab agent always keeps the scripted model, because it is a test bench. */
export function createExampleAgents({
  countCharge,
  findCharge,
  model,
  lab = true,
  labShape,
}: ExampleAgentsConfig): AgentDefinition[] {
  const isReal = model !== undefined && !isScriptedModel(model);
  const support = createSupportAgent(isReal ? { model } : {});
  if (!lab) return [support];
  return [
    createLabAgent({ countCharge, findCharge, activities: labShape }),
    createLabAgent({ countCharge, findCharge, name: 'lab-leg', activities: 'leg' }),
    support,
  ];
}

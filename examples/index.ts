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

/** What the example agents need from their process. */
export interface ExampleAgentsConfig {
  /** Required where tools are executed. Default: the lab agent's `charge` fails. */
  readonly countCharge?: CountCharge;
  /** As for the lab agent. */
  readonly findCharge?: FindCharge;
  /** The model of agents for people. Without one, or with the scripted one, they follow their own rules. */
  readonly model?: LlmSettings['model'] | undefined;
  /** Whether the lab agent is among them. Default: true. */
  readonly lab?: boolean;
  /** The shape of the lab agent's runs; `lab-leg` beside it always has the shape `leg`. */
  readonly labShape?: RunShape | undefined;
}

/** All agents of the examples. The lab agent always keeps the scripted model: it is a test bench. */
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

import { z } from 'zod';
import {
  createScriptedModel,
  createSubAgentTool,
  defineAgent,
  defineTool,
  type AgentDefinition,
} from '../../../agents/index.js';
import type { RunShape } from '../../../protocol/run.js';
import { createGatedAgent, type GatedAgent } from '../../support/gated-agent.js';

const model = createScriptedModel();
const nothing = z.object({});

const note = defineTool({
  name: 'note',
  description: 'Takes a note.',
  inputSchema: nothing,
  execute: () => 'noted',
});
const locate = (name: string, deadlineMs?: number) =>
  defineTool({
    name,
    description: 'Asks the page.',
    inputSchema: nothing,
    execute: 'client',
    deadlineMs,
  });

/** Defines a tool that waits for a person, without a deadline unless given, ms. */
const asking = (name: string, deadlineMs?: number) =>
  defineTool({
    name,
    description: 'Pays.',
    inputSchema: nothing,
    requireApproval: true,
    execute: () => 'paid',
    deadlineMs,
  });

export interface RecordedAgents {
  all: AgentDefinition[];
  /** An agent whose gates let scenarios act while its model speaks or a tool runs. */
  gated: GatedAgent;
}

/** Creates the agents `agent`, `reporter` and `gated`, which play scenarios' scripts. */
export function createRecordedAgents(activities?: RunShape): RecordedAgents {
  const gated = createGatedAgent(activities);
  const helper = defineAgent({
    name: 'helper',
    activities,
    systemPrompt: '',
    tools: [note, asking('pay')],
    llmConfig: { model },
  });
  const agent = defineAgent({
    name: 'agent',
    activities,
    systemPrompt: '',
    tools: [
      note,
      locate('locate'),
      locate('locateSoon', 600_000),
      asking('pay'),
      asking('paySoon', 600_000),
      asking('payInTime', 5_000),
      asking('payNow', 300),
      createSubAgentTool({
        name: 'delegate',
        description: 'Has a helper perform a script.',
        inputSchema: z.object({ script: z.array(z.unknown()) }),
        agent: helper,
      }),
    ],
    llmConfig: { model },
  });
  const reporter = defineAgent({
    name: 'reporter',
    activities,
    systemPrompt: '',
    tools: [note],
    outputSchema: z.object({ answer: z.number() }),
    llmConfig: { model },
  });
  return { all: [agent, reporter, gated.agent], gated };
}

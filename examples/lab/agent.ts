import type { LanguageModel } from 'ai';
import {
  createScriptedModel,
  DEFAULT_MAX_STEPS,
  defineAgent,
  type AgentDefinition,
  type AgentPage,
} from '../../agents/index.js';
import type { RunShape } from '../../protocol/run.js';
import { withRulePrices } from '../rule-prices.js';
import { createDelegate, createReport, createReportAgent, LAB_TRIES } from './sub-agents.js';
import {
  ask,
  boom,
  createCharge,
  createHurriedCharge,
  createTransfer,
  echo,
  LabState,
  locate,
  progress,
  remember,
  sleep,
  wait,
  write,
  type CountCharge,
  type FindCharge,
} from './tools.js';

/** Dependencies and settings of the lab agent. */
export interface LabAgentConfig {
  /** Required in processes that execute tools. Default: `charge` fails. */
  readonly countCharge?: CountCharge;
  /** Required if workers may die. Default: `transfer` cannot tell whether it has run. */
  readonly findCharge?: FindCharge;
  /** Default: the scripted model, which performs the script in the user's message. */
  readonly model?: LanguageModel;
  /** Raises the limit for measurements of long turns. */
  readonly maxSteps?: number;
  /** Default: `lab`. Names of its sub-agents start with it. */
  readonly name?: string;
  /** Shape of its own and its sub-agents' runs. */
  readonly activities?: RunShape | undefined;
}

const CANNOT_COUNT: CountCharge = () => Promise.reject(new Error('tools are executed by workers'));

const CANNOT_FIND: FindCharge = () => Promise.reject(new Error('charges are not kept here'));

/** Creates the agent that drives every path of the runtime without a model key. */
export function createLabAgent({
  countCharge = CANNOT_COUNT,
  findCharge = CANNOT_FIND,
  model = createScriptedModel(),
  maxSteps = DEFAULT_MAX_STEPS,
  name = 'lab',
  activities,
}: LabAgentConfig): AgentDefinition {
  const lab = { name, model, activities };
  const charge = createCharge(countCharge);
  return defineAgent({
    name,
    activities,
    description: 'Performs the script in the user message.',
    page: { title: 'Lab', openers: LAB_OPENERS, listed: false },
    systemPrompt: 'You are the lab agent. Do exactly what the script of the user says.',
    tools: [
      echo,
      sleep,
      boom,
      charge,
      createHurriedCharge(countCharge),
      createTransfer(countCharge, findCharge),
      locate,
      ask,
      progress,
      write,
      remember,
      wait,
      createDelegate(lab, [echo, charge, locate, wait]),
      createReport(createReportAgent(lab)),
    ],
    stateSchema: LabState,
    llmConfig: { ...withRulePrices(model), maxTries: LAB_TRIES },
    maxSteps,
  });
}

const LONG = Array.from({ length: 60 }, (_, index) => `Sentence number ${String(index + 1)}.`);

/** Suggested first messages; each sends a script. */
const LAB_OPENERS: AgentPage['openers'] = [
  scripted('Write slowly', [{ say: LONG.join(' '), deltas: 240, everyMs: 50 }]),
  scripted('Use a tool', [{ calls: [{ tool: 'echo', args: { value: 'hello' } }] }]),
  scripted('Ask for approval', [
    { say: 'This costs something.', calls: [{ tool: 'charge', args: { amount: 5 } }] },
  ]),
  scripted('Ask the page', [{ calls: [{ tool: 'locate', args: { question: 'Where are you?' } }] }]),
  scripted('Delegate', [
    { calls: [{ tool: 'delegate', args: { script: [{ say: 'I did it.', everyMs: 50 }] } }] },
  ]),
];

function scripted(label: string, script: object[]): { label: string; text: string } {
  return { label, text: JSON.stringify({ script }) };
}

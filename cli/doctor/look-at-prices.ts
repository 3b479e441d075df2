import { AgentsFileError, loadAgentsFile } from '../../agents/agents-file.js';
import { ModelConfigurationError } from '../../agents/index.js';
import type { Config } from '../../config/env.js';
import { budgetsOfSettings } from '../../executor/budgets.js';
import { unpricedAgents } from '../../executor/unpriced-agents.js';

/** The agents without prices; undefined where no budget needs them. */
export async function lookAtPrices(
  config: Config,
  env: Record<string, string>,
): Promise<string[] | { fault: string } | undefined> {
  if (budgetsOfSettings(config) === undefined) return undefined;
  const { AGENTS, MODEL = 'scripted' } = config;
  // Only the scripted model of the demo has prices.
  if (AGENTS === undefined) return MODEL === 'scripted' ? [] : [`the demo's, with MODEL=${MODEL}`];
  try {
    return unpricedAgents(await loadAgentsFile(AGENTS, { env }));
  } catch (error) {
    // The look at the model says which key is missing; agents cannot be loaded without it.
    if (error instanceof AgentsFileError || error instanceof ModelConfigurationError) {
      return { fault: error.message };
    }
    throw error;
  }
}

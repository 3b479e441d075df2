import type { AgentDefinition, AgentRegistry } from '../../agents/index.js';
import type { Budgets } from './budgets.js';

/** Names of agents whose model calls no budget counts. Agents made by a factory are skipped. */
export function unpricedAgents(agents: AgentRegistry): string[] {
  return agents.getRegisteredTypes().filter((name) => {
    if (agents.isMade(name)) return false;
    const agent = agents.get(name);
    return agent !== undefined && !hasPrices(agent);
  });
}

/** A process with budgets names them when it starts. */
export function warnOfUnpriced({
  budgets,
  agents,
  logger,
}: {
  budgets?: Budgets;
  agents: AgentRegistry;
  logger: { warn: (fields: object, message: string) => void };
}): void {
  const unpriced = budgets === undefined ? [] : unpricedAgents(agents);
  if (unpriced.length === 0) return;
  logger.warn({ agents: unpriced }, 'budgets do not count agents without llmConfig.pricing');
}

function hasPrices({ llmConfig: { pricing, models = [] } }: AgentDefinition): boolean {
  if (pricing !== undefined) return true;
  return models.length > 0 && models.every((choice) => choice.pricing !== undefined);
}

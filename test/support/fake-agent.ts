import type { z } from 'zod';
import { defineAgent, type AgentConfig, type AgentDefinition } from '../../agents/index.js';

type Config = AgentConfig<z.ZodType, z.ZodType>;

/** Defines an agent without instructions. */
export function fakeAgent(
  name: string,
  model: Config['llmConfig']['model'],
  more: Partial<Omit<Config, 'llmConfig'>> = {},
): AgentDefinition {
  return defineAgent({ name, systemPrompt: '', ...more, llmConfig: { model } });
}

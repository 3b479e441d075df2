import { z } from 'zod';

/** How a page presents a tool. */
export const ToolCard = z.object({
  name: z.string(),
  title: z.string().optional(),
  /** Title of the agent that carries its calls out; absent: none does. */
  agent: z.string().optional(),
});
export type ToolCard = z.infer<typeof ToolCard>;

/** How a page presents an agent. */
export const AgentCard = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string().optional(),
  /** First messages to click: what people read, and what is sent. */
  openers: z.array(z.object({ label: z.string(), text: z.string() })),
  /** Tools that pages show in another way than by their names. */
  tools: z.array(ToolCard),
  /** False: a page does not offer it, though people who know its name may talk to it. */
  listed: z.boolean(),
});
export type AgentCard = z.infer<typeof AgentCard>;

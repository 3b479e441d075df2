import { z } from 'zod';

/** What every event of a sub-agent names. */
const about = {
  /** The call of the conversation that it works for, also through agents between. */
  callId: z.string(),
  /** Session of the sub-agent, which distinguishes two that write in turn. */
  agentId: z.string(),
  /** Name of the sub-agent. */
  agent: z.string(),
};

const ToolState = z.enum(['running', 'done', 'failed']);

/** What a sub-agent does, by the call of the conversation that it carries out. */
export const SubAgentEvent = z
  .discriminatedUnion('kind', [
    z.object({ ...about, kind: z.literal('text'), delta: z.string() }),
    z.object({
      ...about,
      kind: z.literal('tool'),
      toolCallId: z.string(),
      toolName: z.string(),
      state: ToolState,
    }),
    /** A step begins; what a lost attempt wrote goes back to here. */
    z.object({ ...about, kind: z.literal('step') }),
    z.object({ ...about, kind: z.literal('discarded') }),
  ])
  .meta({ id: 'SubAgentEvent' });
export type SubAgentEvent = z.infer<typeof SubAgentEvent>;

/** Body of `GET /api/chat/:sessionId/sub-agents/:toolCallId`: the end of it, oldest first. */
export const SubAgentReport = z.object({ events: z.array(SubAgentEvent) });
export type SubAgentReport = z.infer<typeof SubAgentReport>;

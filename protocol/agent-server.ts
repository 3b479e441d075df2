import { z } from 'zod';
import { LIMITS } from './limits.js';
import { UserPart } from './rows.js';

/** The agent-server surface: bodies as agent clients and remote parents send them, and its replies. */

const id = z.string().min(1).max(LIMITS.idChars);

/** What a user says, as programs say it. */
export const UserInputMessage = z
  .object({
    role: z.literal('user').optional(),
    /** Accepted once per session. Default: a new one. */
    id: id.optional(),
    content: z.string().optional(),
    parts: z.array(UserPart).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ content, parts }) => (content ?? '') !== '' || (parts ?? []).length > 0, {
    message: 'content or parts is required',
  });
export type UserInputMessage = z.infer<typeof UserInputMessage>;

const said = z.union([z.string().min(1), UserInputMessage, z.array(UserInputMessage).min(1)]);

export const StartAgentBody = z
  .object({
    /** Default: a new session. */
    sessionId: z.string().optional(),
    agent: z.string().optional(),
    /** The same as `agent`. */
    agentType: z.string().optional(),
    message: said.optional(),
    /** The same as `message`. */
    input: said.optional(),
    /** Id for a message that is a plain text: sent again under it, the request is the same run. */
    messageId: id.optional(),
    state: z.record(z.string(), z.unknown()).optional(),
    /** For messages that bring none of their own. */
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ message, input }) => message !== undefined || input !== undefined, {
    message: 'message is required',
    path: ['message'],
  });
export type StartAgentBody = z.infer<typeof StartAgentBody>;

/** Reply of `/agent/start` and `/agent/resume`. */
export const AgentStarted = z.object({
  sessionId: z.string(),
  streamId: z.string(),
  runId: z.string(),
});
export type AgentStarted = z.infer<typeof AgentStarted>;

export const ResumeAgentBody = z.object({
  sessionId: z.string(),
  mode: z.enum(['continue', 'with_message', 'with_confirmation', 'from_checkpoint']).optional(),
  message: z.string().min(1).optional(),
  checkpointId: id.optional(),
});
export type ResumeAgentBody = z.infer<typeof ResumeAgentBody>;

/** The session that an answer is for; the answer itself is checked where it is taken. */
export const SubmitToolResultBody = z.looseObject({ sessionId: z.string() });
export type SubmitToolResultBody = z.infer<typeof SubmitToolResultBody>;

export const StopAgentBody = z.object({
  sessionId: z.string(),
  reason: z.string().max(LIMITS.errorTextBytes).optional(),
});
export type StopAgentBody = z.infer<typeof StopAgentBody>;

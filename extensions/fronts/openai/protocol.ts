import { z } from 'zod';
import { LIMITS } from '../../../protocol/limits.js';
import { listOf } from '../../../protocol/http.js';

/** Requests and replies of `/v1`, in OpenAI's shapes, as far as agents have a use for them. */

const id = z.string().min(1).max(LIMITS.idChars);

/** A part of a message's content. Parts other than text and files are refused where they are used. */
const ContentPart = z.looseObject({ type: z.string() });

export const CompletionMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), listOf(ContentPart, LIMITS.newMessages)]).nullish(),
  tool_call_id: z
    .string()
    .min(1)
    .max(2 * LIMITS.idChars)
    .optional(),
  /** Calls of an `assistant` message as the program saw them. */
  tool_calls: z.unknown().optional(),
});
export type CompletionMessage = z.infer<typeof CompletionMessage>;

/** Body of `POST /v1/chat/completions`. Other fields, such as `temperature`, are the agent's to decide. */
export const CompletionRequest = z.object({
  model: id,
  messages: listOf(CompletionMessage, LIMITS.postedMessages),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1).nullish(),
  /** `session_id` names the conversation, as the header `x-session-id` does. */
  metadata: z.record(z.string(), z.unknown()).nullish(),
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;

const FinishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls']);
export type CompletionFinish = z.infer<typeof FinishReason>;

/** A call that waits for the program or its user. */
export const CompletionCall = z
  .object({
    /** `<session>:<toolCallId>`, so that an answer finds its conversation. */
    id: z.string(),
    type: z.literal('function'),
    function: z.object({ name: z.string(), arguments: z.string() }),
    /** True if the server executes the call after an answer `{"approved": true}`. */
    approval: z.literal(true).optional(),
  })
  .meta({ id: 'CompletionCall' });
export type CompletionCall = z.infer<typeof CompletionCall>;

export const CompletionUsage = z
  .object({
    prompt_tokens: z.number(),
    completion_tokens: z.number(),
    total_tokens: z.number(),
    prompt_tokens_details: z.object({ cached_tokens: z.number() }),
    completion_tokens_details: z.object({ reasoning_tokens: z.number() }),
  })
  .meta({ id: 'CompletionUsage' });
export type CompletionUsage = z.infer<typeof CompletionUsage>;

export const Completion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string().nullable(),
        refusal: z.null(),
        reasoning_content: z.string().optional(),
        tool_calls: z.array(CompletionCall).optional(),
      }),
      logprobs: z.null(),
      finish_reason: FinishReason,
    }),
  ),
  usage: CompletionUsage,
});
export type Completion = z.infer<typeof Completion>;

export interface CompletionDelta {
  role?: 'assistant';
  content?: string;
  reasoning_content?: string;
  tool_calls?: (CompletionCall & { index: number })[];
}

export interface CompletionChunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: { index: 0; delta: CompletionDelta; finish_reason: CompletionFinish | null }[];
  usage?: CompletionUsage | null;
}

export const Model = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.number(),
    owned_by: z.string(),
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof Model>;

/** Reply of `GET /v1/models`: the agents that people may talk to. */
export const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) });
export type ModelList = z.infer<typeof ModelList>;

export const ModelPath = z.object({ model: id });

export const CompletionProblem = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.null(),
    code: z.string(),
  }),
});
export type CompletionProblem = z.infer<typeof CompletionProblem>;

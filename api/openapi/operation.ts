import type { z } from 'zod';
import type { ErrorCode } from '../../protocol/errors.js';
import type { HEADERS } from '../../protocol/http.js';

/** What a route takes and gives, in the shapes that it parses and replies with. */
export interface Operation {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As Express has it, from the root. */
  path: string;
  id: string;
  summary: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that it reads. */
  headers?: readonly (keyof typeof HEADERS)[];
  body?: z.ZodType;
  replies: Record<number, Reply>;
  /** Its own refusals, beside those that every route may give. */
  refusals?: readonly ErrorCode[];
}

export interface Reply {
  description: string;
  /** Absent if there is no body. */
  content?: Content;
  /** Headers that it has. */
  headers?: readonly (keyof typeof HEADERS)[];
}

type Content = { json: z.ZodType } | { events: string } | { text: string };

/** Names the conversation. */
export const SESSION = ['sessionId'] as const;
/** Names the conversation and its newest run. */
export const SESSION_AND_RUN = ['sessionId', 'runId'] as const;

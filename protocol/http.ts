import { z } from 'zod';
import { SHOWN_CALL } from './answers.js';
import { SESSION_ID } from './ids.js';
import { LIMITS } from './limits.js';
import { BusyPolicy } from './replies.js';

/** Validation of a list stops after this many errors, since each costs more than its item. */
const FAULTS = 5;

/** Creates the schema of a posted list; validation stops after a few errors. */
export function listOf<S extends z.ZodType>(item: S, max: number): ListSchema<S> {
  return endOfList(item, { max, atOnce: max, toStart: () => 0 });
}

/** Creates such a schema for at most `atOnce` items at a list's end, from where `toStart` says. */
export function endOfList<S extends z.ZodType>(
  item: S,
  { max, atOnce, toStart }: EndOfList,
): ListSchema<S> {
  // The OpenAPI document describes the items, which the schema below does not reveal.
  const { items: described } = z.toJSONSchema(z.array(item), { io: 'input' });
  return z
    .array(z.unknown())
    .max(max)
    .meta({ items: described })
    .transform((items, context): z.output<S>[] => {
      const found: z.output<S>[] = [];
      const start = toStart(items);
      if (items.length - start > atOnce) {
        context.addIssue(`at most ${String(atOnce)} items at once`);
        return z.NEVER;
      }
      for (let at = start; at < items.length; at += 1) {
        const parsed = item.safeParse(items[at]);
        if (parsed.success) found.push(parsed.data);
        else report(parsed.error, at, context);
        if (context.issues.length >= FAULTS) break;
      }
      return found;
    });
}

interface EndOfList {
  max: number;
  atOnce: number;
  toStart: (items: readonly unknown[]) => number;
}

type ListSchema<S extends z.ZodType> = z.ZodPipe<
  z.ZodArray<z.ZodUnknown>,
  z.ZodTransform<z.output<S>[], unknown[]>
>;

function report(error: z.ZodError, at: number, context: z.core.$RefinementCtx): void {
  for (const issue of error.issues.slice(0, FAULTS)) {
    context.addIssue({ ...issue, code: 'custom', path: [at, ...issue.path] });
  }
}

/** A UI message as a client posts it. Its parts are checked where they are used. */
export const PostedMessage = z.object({
  id: z.string().min(1).max(LIMITS.idChars),
  role: z.enum(['user', 'assistant', 'system']),
  parts: listOf(z.looseObject({ type: z.string() }), LIMITS.jsonValues).optional(),
  content: z.string().optional(),
  metadata: z.unknown().optional(),
});
export type PostedMessage = z.infer<typeof PostedMessage>;

/**
 * The end of a posted conversation: the last message that is not the user's, and the user messages
 * after it. Earlier messages are neither used nor checked nor copied.
 */
export const PostedTail = endOfList(PostedMessage, {
  max: LIMITS.postedMessages,
  atOnce: LIMITS.newMessages + 1,
  toStart: (messages) => Math.max(0, messages.findLastIndex(isNotUsers)),
});

function isNotUsers(message: unknown): boolean {
  return (message as { role?: unknown } | null)?.role !== 'user';
}

/** HTTP requests, as stock AI SDK clients and programs send them; replies are in `replies.ts`. */

const id = z.string().min(1).max(LIMITS.idChars);

/** Id of a conversation, chosen by the client. Ids of sub-agents' sessions are refused. */
export const SessionId = z
  .string()
  .regex(SESSION_ID, 'The session id must match [A-Za-z0-9_-]{1,128}.')
  .meta({ id: 'SessionId' });

export const SessionPath = z.object({ sessionId: SessionId });
export type SessionPath = z.infer<typeof SessionPath>;

export const CallPath = z.object({ sessionId: SessionId, toolCallId: id });

export const FilePath = z.object({ sessionId: SessionId, fileId: id });

export const FileQuery = z.object({
  filename: z
    .string()
    .max(4 * LIMITS.idChars)
    .optional(),
});

export const ChatRequest = z
  .object({
    /** The session; must equal the one in the path, if that has one. */
    id: SessionId.optional(),
    /** The whole conversation or its end; messages before the last reply are ignored. */
    messages: PostedTail.optional(),
    /** The newest message. Plain text gets a new id, so a repeated request adds it twice. */
    message: z.union([z.string().min(1), PostedMessage]).optional(),
    trigger: z.string().optional(),
    messageId: z.string().optional(),
    agent: z.string().optional(),
    /** Policy for the message while a run is active. */
    busy: BusyPolicy.optional(),
  })
  .refine((body) => body.messages !== undefined || body.message !== undefined, {
    message: 'messages or message is required',
    path: ['messages'],
  });
export type ChatRequest = z.infer<typeof ChatRequest>;

export const ChatQuery = z.object({
  agent: z.string().optional(),
  busy: BusyPolicy.optional(),
});
export type ChatQuery = z.infer<typeof ChatQuery>;

export const SnapshotQuery = z.object({
  checkpointId: z.string().optional(),
  /** Includes the reply that is being written, for readers that do not follow the stream. */
  includePartialContent: z.enum(['true', 'false']).optional(),
});

export const StopBody = z
  .object({
    mode: z.enum(['interrupt', 'abort']).default('interrupt'),
    reason: z.string().max(LIMITS.errorTextBytes).optional(),
  })
  .prefault({});
export type StopBody = z.infer<typeof StopBody>;

/** The turn to repeat, or the checkpoint to continue from; default: the newest turn. */
export const RetryBody = z
  .object({
    checkpointId: id.optional(),
    messageId: id.optional(),
  })
  .refine((body) => body.checkpointId === undefined || body.messageId === undefined, {
    message: 'give checkpointId or messageId, not both',
  })
  .prefault({});
export type RetryBody = z.infer<typeof RetryBody>;

/** End of the part to copy (default: everything), and the id of the copy. */
export const BranchBody = z
  .object({
    checkpointId: id.optional(),
    messageIndex: z.int().nonnegative().optional(),
    sessionId: SessionId.optional(),
  })
  .refine((body) => body.checkpointId === undefined || body.messageIndex === undefined, {
    message: 'give checkpointId or messageIndex, not both',
  })
  .prefault({});
export type BranchBody = z.infer<typeof BranchBody>;

export const CheckpointQuery = z.object({
  limit: z.coerce.number().int().positive().optional(),
  cursor: z.string().optional(),
});
export type CheckpointQuery = z.infer<typeof CheckpointQuery>;

/** A range of a conversation, counted in visible messages, oldest first. */
export const MessagesQuery = z.object({
  offset: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(LIMITS.messagePage).default(50),
  /** Includes user messages that only models see. */
  hidden: z.enum(['true', 'false']).optional(),
});

/** An answer to a pending call from outside the chat. */
export const AnswerBody = z.union([
  z.strictObject({
    approved: z.boolean(),
    reason: z.string().optional(),
    input: z.unknown().optional(),
    ...SHOWN_CALL,
  }),
  z
    .strictObject({ result: z.unknown(), ...SHOWN_CALL })
    .refine((body) => 'result' in body, { message: 'approved, result or error is required' }),
  z.strictObject({ error: z.string(), ...SHOWN_CALL }),
]);
export type AnswerBody = z.infer<typeof AnswerBody>;

/** A page's lease of a client tool's call; 0 ms releases it. */
export const LeaseBody = z.object({
  holder: z.string().min(1).max(LIMITS.idChars),
  forMs: z.int().nonnegative().max(LIMITS.leaseMs).default(30_000),
});

export const ExtendBody = z.object({
  byMs: z.int().positive().max(LIMITS.deadlineAheadMs),
  ...SHOWN_CALL,
});
export type ExtendBody = z.infer<typeof ExtendBody>;

/** A page of the sessions that wait for people; 20 per page unless `limit` is given. */
export const WaitingQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.waitingSessions).default(20),
  cursor: z
    .string()
    .max(2 * LIMITS.idChars)
    .optional(),
});
export type WaitingQuery = z.infer<typeof WaitingQuery>;

/** A page of the caller's conversations; 20 per page unless `limit` is given. */
export const ConversationsQuery = WaitingQuery.extend({
  /** Only conversations whose title contains this text; ignores case. */
  q: z.string().max(LIMITS.idChars).optional(),
});

/** The queued message to remove. Default: all. */
export const QueueQuery = z.object({ id: z.string().optional() });

export const QueueEdit = z.object({
  id: id,
  text: z.string().min(1),
});
export type QueueEdit = z.infer<typeof QueueEdit>;

const TIME_FORMS =
  'must be a time in ms since 1970, or ISO 8601 with an offset, such as 2027-01-31T09:00:00+01:00';

/**
 * Start time of a run: ms since the epoch, or ISO 8601 with an offset from UTC. A past time means
 * now; one more than a day ago is refused. Parses to ms.
 */
export const StartAt = z
  .union([
    z.number(TIME_FORMS).int(TIME_FORMS).min(0, TIME_FORMS),
    z.iso.datetime({ offset: true, error: TIME_FORMS }).transform((text) => Date.parse(text)),
  ])
  .refine((at) => at <= Date.now() + LIMITS.startAheadMs, {
    message: 'a run starts at most a year from now',
  })
  .refine((at) => at >= Date.now() - LIMITS.startAgoMs, {
    message: 'this time is more than a day ago; numbers are ms since 1970, not seconds',
  });
export type StartAt = z.input<typeof StartAt>;

/** Returns true for scheme, host and port only, in the form that browsers use. */
export function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

export interface SentRequest {
  method: string;
  /** True if the request changes something although its method only reads. */
  leavesTrace?: boolean;
  /** The name by which the sender reached this server, with its port. */
  host: string;
  header: (name: string) => string | null | undefined;
}

/** Methods that change nothing; CORS decides what other sites may read. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
const BEARER = /^Bearer +\S/i;
/** Body types that a page may send to any site without a CORS preflight. */
const UNASKED = new Set(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']);

/**
 * Returns true for a request with which another site's page would use credentials that the
 * visitor's browser attaches unasked: cookies, Basic and Negotiate sign-in, client certificates, a
 * place in the network. The headers that browsers set decide; other programs do not send them.
 *
 * A `Bearer` token frees a request, since no browser attaches one unasked, unless the browser
 * reports another site's page or the body needs no preflight.
 */
export function isForged(request: SentRequest, allowedOrigins: ReadonlySet<string>): boolean {
  const { method, leavesTrace = !READS.has(method), header } = request;
  if (!leavesTrace || !isForeign(request, allowedOrigins)) return false;
  const type = header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return (
    !BEARER.test(header('authorization') ?? '') ||
    header('sec-fetch-site') === 'cross-site' ||
    UNASKED.has(type)
  );
}

/** Returns true if a page of another origin, which is not listed, sent the request. */
function isForeign({ host, header }: SentRequest, allowedOrigins: ReadonlySet<string>): boolean {
  const origin = header('origin') ?? undefined;
  if (origin !== undefined && allowedOrigins.has(origin)) return false;
  const site = header('sec-fetch-site') ?? undefined;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/**
 * Returns true for a request that a host of `handleChatStream` must refuse if its sign-in may be a
 * cookie: another site's page sent it, see `isForged`.
 *
 * @param allowedOrigins other origins whose pages may act here
 * @example
 * import { isForgedRequest } from 'helix-temporal/ai-sdk';
 *
 * export function refuseForged(request: Request): Response | undefined {
 *   return isForgedRequest(request) ? new Response(null, { status: 403 }) : undefined;
 * }
 */
export function isForgedRequest(
  { method, url, headers }: Pick<Request, 'method' | 'url' | 'headers'>,
  allowedOrigins: readonly string[] = [],
): boolean {
  const host = headers.get('host') ?? new URL(url).host;
  const header = (name: string): string | null => headers.get(name);
  return isForged({ method, host, header }, new Set(allowedOrigins));
}

const about = {
  /** The conversation's call that the sub-agent works for, perhaps through other agents. */
  callId: z.string(),
  /** Session of the sub-agent, which distinguishes two that write in turn. */
  agentId: z.string(),
  agent: z.string(),
};

const ToolState = z.enum(['running', 'done', 'failed']);

/** An act of a sub-agent, by the conversation's call that it works for. */
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
    /** A step begins; `discarded` withdraws everything after it. */
    z.object({ ...about, kind: z.literal('step') }),
    z.object({ ...about, kind: z.literal('discarded') }),
  ])
  .meta({ id: 'SubAgentEvent' });
export type SubAgentEvent = z.infer<typeof SubAgentEvent>;

/** Body of `GET /api/chat/:sessionId/sub-agents/:toolCallId`: the newest events, oldest first. */
export const SubAgentReport = z.object({ events: z.array(SubAgentEvent) });
export type SubAgentReport = z.infer<typeof SubAgentReport>;

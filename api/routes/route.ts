import { createHash } from 'node:crypto';
import type { Request, Response, RequestHandler } from 'express';
import type { z } from 'zod';
import { readOwned, toReplyHeaders, toStoredSessionId, type Caller } from '../../ai-sdk/index.js';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import type { HEADERS } from '../../protocol/ids.js';
import { toAct } from '../../runs/record/acts.js';
import { logEntries } from '../../runs/record/listeners.js';
import type { AuditAction, AuditDetail } from '../../store/contract/audit.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import type { RouteDeps } from '../deps.js';
import { readCaller, toActor, type Identity } from '../identity.js';
import { BREAK_OFF_MS, cutAtExpiry, cutWhenRevoked } from '../stream-reply.js';

/** Everyone, every caller that is signed in, or the owner of the session that the request names. */
export type Access = 'everyone' | 'caller' | 'owner';

/** Declaration of a route, from which router, limits, session access and OpenAPI are made. */
export interface Route extends Declaration {
  access: Access;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Parses the request, checks access to its session, and replies. @throws HelixError */
  answer: (deps: RouteDeps, request: Request, response: Response) => Promise<void>;
}

interface Declaration extends Audited {
  method: 'get' | 'post' | 'patch' | 'delete';
  path: string;
  id: string;
  summary: string;
  headers?: readonly (keyof typeof HEADERS)[];
  /** By status. A reply with events or lines is a stream, which takes one of its sender's slots. */
  replies: Record<number, Reply>;
  /** Refusals besides those of its access and its limits. */
  refusals?: readonly ErrorCode[];
  /** The body is a file; the handler finds its bytes as `request.body`. */
  upload?: true;
  /** A repeated request with an `Idempotency-Key` gets the first one's reply, as for acts of operators. */
  isOnce?: true;
  /** The body is JSON of any shape, which the handler reads; requests count per address. */
  payload?: true;
}

export interface Reply {
  description: string;
  content?: Content;
  headers?: readonly (keyof typeof HEADERS)[];
}

type Content =
  | { json: z.ZodType; events?: string }
  | { events: string }
  | { text: string }
  /** JSON lines of an export, written as they are read. */
  | { lines: string }
  | { file: string };

export const SESSION = ['sessionId'] as const;
export const SESSION_AND_RUN = ['sessionId', 'runId'] as const;

export function inJson(
  status: number,
  description: string,
  json: z.ZodType,
  headers?: Reply['headers'],
): Record<number, Reply> {
  return { [status]: { description, content: { json }, ...(headers && { headers }) } };
}

/** One request, parsed by the schemas of its route. */
export interface Call<A, P, Q, B> {
  deps: RouteDeps;
  request: Request;
  response: Response;
  params: Parsed<P>;
  query: Parsed<Q>;
  body: Parsed<B>;
  caller: A extends 'everyone' ? undefined : Identity;
  /** The caller's own session; its id is the stored one. */
  record: A extends 'owner' ? SessionRecord : undefined;
  /**
   * The call that the request names, if the route reads it. It is read beside the session: a refusal of
   * a stranger does not wait for it, so its duration says nothing of the call.
   */
  asked: Promise<OpenCall | undefined> | undefined;
}

type Parsed<S> = S extends z.ZodType ? z.infer<S> : undefined;

interface Declared<A, P, Q, B, T> extends Declaration {
  /** Default: `caller`. */
  access?: A;
  /** True for a route of an owner that needs the call that the request names. */
  readsCall?: true;
  params?: P;
  query?: Q;
  body?: B;
  /** Finds the subject of the request and checks the caller's rights, before it is recorded. */
  about?: (call: Call<A, P, Q, B>) => Promise<T>;
  handle: (call: Call<A, P, Q, B> & { about: T }) => Promise<void> | void;
}

/**
 * Declares a route whose handler gets the values that its schemas parse.
 *
 * @example
 * import { defineRoute } from 'helix-temporal/api';
 * import { z } from 'zod';
 *
 * export const who = defineRoute({
 *   method: 'get',
 *   path: '/api/who',
 *   id: 'who',
 *   audits: 'none',
 *   summary: 'Say who asks',
 *   replies: { 200: { description: 'The caller.', content: { json: z.object({ userId: z.string() }) } } },
 *   handle: ({ response, caller }) => void response.json({ userId: caller.userId }),
 * });
 */
export function defineRoute<
  A extends Access = 'caller',
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  T extends About | undefined = undefined,
>({ handle, about: find, readsCall, ...declared }: Declared<A, P, Q, B, T>): Route {
  const { access = 'caller', params, query, body } = declared;
  const { headers = [], audits } = declared;
  const isAudited = audits !== 'none' && access !== 'everyone';
  return {
    ...declared,
    access,
    ...(isAudited && { headers: [...headers, 'via'] }),
    answer: async (deps, request, response) => {
      const parsed = {
        params: params && parse(params, request.params, 'path'),
        // A repeated parameter is a list, which no schema accepts.
        query: query && parse(query, request.query, 'query'),
        body: body && parse(body, readMembers(request), 'request'),
      };
      // A reply may take hours, so only the parsed body stays in memory.
      if (body !== undefined) request.body = undefined;
      // No cache keeps a reply, unless the handler says otherwise.
      response.set('cache-control', 'no-store');
      const caller = access === 'everyone' ? undefined : await readCaller(deps, request);
      if (caller !== undefined && mayStream(declared)) {
        if (deps.repliesOutliveTokens !== true) cutAtExpiry(response, caller, BREAK_OFF_MS);
        cutWhenRevoked(response, caller);
      }
      const { stateStore } = deps;
      const { sessionId, toolCallId } = idsOf(parsed);
      let record: SessionRecord | undefined;
      let asked: Promise<OpenCall | undefined> | undefined;
      if (access === 'owner' && caller !== undefined) {
        const own = loadOwnSession(stateStore, sessionId, caller, response);
        if (readsCall === true) {
          const storedId = toStoredSessionId(sessionId, caller.tenantId);
          const reading = stateStore.calls.read(storedId, toolCallId);
          // A stranger's request does not await it.
          reading.catch(() => undefined);
          asked = reading;
        }
        record = await own;
      }
      const call = { deps, request, response, ...parsed, caller, record, asked } as Call<
        A,
        P,
        Q,
        B
      >;
      const about = (await find?.(call)) as T;
      if (caller !== undefined) {
        await recordAccess(declared, { deps, request, caller }, about ?? record ?? {});
      }
      await handle({ ...call, about });
    },
  };
}

/** Returns the session and the call of a request; the path wins, since a body may name a target session. */
function idsOf({ params, query, body }: Record<'params' | 'query' | 'body', unknown>): Ids {
  const { sessionId = '', toolCallId = '' } = {
    ...toFields(body),
    ...toFields(query),
    ...toFields(params),
  };
  return { sessionId, toolCallId };
}

interface Ids {
  sessionId: string;
  toolCallId: string;
}

function toFields(value: unknown): Partial<Ids> {
  return typeof value === 'object' && value !== null ? value : {};
}

/** Returns true if a reply may be a stream. */
export function mayStream({ replies }: Pick<Route, 'replies'>): boolean {
  return sendsLines(replies) || contentsOf(replies).some((content) => 'events' in content);
}

/** Returns true for changes and exports, which count toward the caller's requests per minute. */
export function isCounted({
  access,
  method,
  audits,
  replies,
}: Pick<Route, 'access' | 'method' | 'audits' | 'replies'>): boolean {
  const isChange = method !== 'get' && audits !== 'read';
  return access !== 'everyone' && (isChange || sendsLines(replies));
}

function sendsLines(replies: Route['replies']): boolean {
  return contentsOf(replies).some((content) => 'lines' in content);
}

function contentsOf(replies: Route['replies']): Content[] {
  return Object.values(replies).flatMap(({ content }) => content ?? []);
}

/** Bounds of the faults in a refusal, whose texts quote the request. */
const PROBLEMS = 5;
const PROBLEM_CHARS = 300;
/** Most members or list items at the top of a body; stock clients send ten. */
const MEMBERS = 1_000;

/** Returns the body. Its members are bounded, since schemas visit all. @throws HelixError */
function readMembers(request: Request): unknown {
  const body: unknown = request.body ?? {};
  if (typeof body === 'object' && body !== null && Object.keys(body).length > MEMBERS) {
    throw new HelixError('validation_error', 'The request is not valid: it has too many members.');
  }
  return body;
}

/** Parses a part of a request. @throws HelixError `validation_error` with faults and their paths */
function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .flatMap(toFaults)
    .slice(0, PROBLEMS)
    .map(({ path, message }) => {
      const at = path.map(String).join('.');
      const text = at === '' ? message : `${at}: ${message}`;
      return text.slice(0, PROBLEM_CHARS).toWellFormed();
    });
  throw new HelixError('validation_error', `The ${what} is not valid: ${problems.join('; ')}`);
}

type Fault = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** Returns the faults of an issue; for a union those of the member with the fewest. */
function toFaults(issue: z.core.$ZodIssue): Fault[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [closest] = [...issue.errors].sort((one, other) => one.length - other.length);
  if (closest === undefined) return [issue];
  return closest
    .flatMap(toFaults)
    .map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

/**
 * Loads the caller's own session, and names it and its newest run in the reply's headers, refusals
 * included. @throws HelixError `not_found`, to strangers as well
 */
export async function loadOwnSession(
  store: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
  response: Response,
): Promise<SessionRecord> {
  const record = await readOwned(store, sessionId, caller);
  response.set(toReplyHeaders(sessionId, record));
  return record;
}

/** Returns the paths, up to the session id, of routes that name their session in the path. */
export function sessionPaths(routes: readonly { path: string }[]): string[] {
  const paths = routes.flatMap(({ path }) => /^.*?\/:sessionId/.exec(path) ?? []);
  return [...new Set(paths)];
}

/** Names the session of the path in every reply, including refusals before it is loaded. */
export const nameSession: RequestHandler<{ sessionId: string }> = (request, response, next) => {
  response.set(toReplyHeaders(request.params.sessionId));
  next();
};

/** Subject of a request, for its audit entry. A session record can serve as one. */
export interface About {
  sessionId?: string | undefined;
  owner?: string | undefined;
  /** The person whose data is read or exported. */
  person?: string | undefined;
  pseudonym?: string | undefined;
  reason?: string | undefined;
  detail?: AuditDetail | undefined;
}

/** The audit settings of a route's declaration. */
interface Audited {
  id: string;
  /**
   * Audit entries of a request. `read`: one per person, channel and hour, unless the caller only
   * reads their own data. `act`: one, written by the code that carries out the act.
   */
  audits: 'read' | 'act' | 'none';
  /** Each request leaves an entry of this action, written before the request is carried out. */
  entry?: AuditAction;
}

/** Pages and commands ask each second, so a person's reads of an hour make one entry. */
const HOUR_MS = 60 * 60_000;

/**
 * Records the read or act of a request as its route declares it, after the caller's rights are
 * checked and before the reply begins.
 */
async function recordAccess(
  { id, audits, entry }: Audited,
  call: { deps: RouteDeps; request: Request; caller: Identity },
  { sessionId, owner, person, pseudonym, reason, detail }: About,
): Promise<void> {
  if (audits === 'none' || (audits === 'act' && entry === undefined)) return;
  const { deps, caller } = call;
  const { audit } = deps.stateStore;
  const actor = toActor(call);
  const { by, via } = actor;
  const { tenantId: tenant } = caller;
  const action = entry ?? 'read';
  const of = owner ?? person;
  // Without accounts all data belongs to the one user.
  const isOwn = of === undefined ? caller.isEveryone === true : of === by;
  if (action === 'read' && isOwn) return;
  const hour = Math.floor(Date.now() / HOUR_MS);
  const which = JSON.stringify([tenant, by, via, id, sessionId, person, detail, hour]);
  const actId = `read-${createHash('sha256').update(which).digest('base64url')}`;
  if (entry === undefined && (await audit.knows(tenant, actId))) return;
  const act = toAct(action, entry === undefined ? { ...actor, actId } : actor, {
    tenant,
    owner: of,
    reason,
    detail: { what: id, ...detail },
  });
  const outcome = audits === 'act' ? 'asked' : undefined;
  // A search must not create a pseudonym for a person who was erased or never existed.
  const whom = action === 'read' ? { sought: person } : { person };
  const target = { sessionId, pseudonym, ...whom };
  logEntries(deps.logger, await audit.record({ ...act, outcome }, target));
}

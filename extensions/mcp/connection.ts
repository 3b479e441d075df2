import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { orAborted } from '../../activities/attempt.js';
import type { ToolHost } from '../../agents/index.js';
import { endsWithin, sleep } from '../../protocol/time.js';
import { McpError, toFailure, unavailable } from './errors.js';
import { inFlight, type InFlight } from './guarded-fetch.js';
import { CONNECT_MS, openMcpServer, type Opened } from './open-server.js';
import { createRedact } from './secrets.js';
import type { McpServer } from './servers.js';

/** Time limit of a call without one of its own. */
export const CALL_MS = 60_000;
/** The SDK's time-outs are this much longer, so that the runtime's own limits end a request first. */
const LATER_MS = 30_000;
const TRIES = 3;
const FIRST_WAIT_MS = 250;
/** An idle connection is closed after this long; the next call opens another. */
const IDLE_MS = 5 * 60_000;
/** Time for a cancellation notice to reach the server before the request's streams are closed. */
const OVER_MS = 1_000;
const PAGES = 20;
const LISTED = 2_000;

const ToolsPage = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().optional().catch(undefined),
});
const CallAnswer = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type McpAnswer = z.output<typeof CallAnswer>;

interface McpCall {
  tool: string;
  input: unknown;
  /** Idempotency key, the same for every attempt of the call. */
  key: string;
  isRepeatable: boolean;
  signal: AbortSignal;
}

/** One process's connection to a server. It connects on first use and reconnects after a loss. */
interface McpConnection {
  /** Reads all pages of the list of tools. @throws McpError; the signal's reason */
  listTools: (signal: AbortSignal) => Promise<unknown[]>;
  /** @throws McpError; the signal's reason */
  call: (call: McpCall) => Promise<McpAnswer>;
  redact: (text: string) => string;
}

function createMcpConnection(
  name: string,
  server: McpServer,
  { logger, places }: { logger: ToolHost['logger']; places: Places },
): McpConnection {
  const { connectTimeoutMs = CONNECT_MS, callTimeoutMs = CALL_MS } = server;
  const secrets = new Set<string>();
  const redact = createRedact(server, secrets);
  /** The opening that further requests use. */
  let current: Opening | undefined;

  /** Connecting ignores the caller's signal, since other callers may wait for the same connection. */
  function open(): Opening {
    const opening: Opening = { opened: Promise.resolve().then(connect), users: 0, close };

    async function connect(): Promise<Opened> {
      await places.take(opening, AbortSignal.timeout(connectTimeoutMs)).catch((error: unknown) => {
        throw unavailable(name, error);
      });
      return openMcpServer(name, server, { logger, redact, secrets }, () => leave(opening));
    }

    async function close(): Promise<void> {
      leave(opening);
      const opened = await opening.opened.catch(() => undefined);
      await opened?.close();
    }

    opening.opened.catch(() => leave(opening));
    return opening;
  }

  /** Lets the next request open another connection. */
  function leave(opening: Opening): void {
    clearTimeout(opening.idle);
    if (current === opening) current = undefined;
    places.giveBack(opening);
  }

  /** Notes the end of a request. */
  function release(opening: Opening): void {
    opening.users -= 1;
    if (opening.users > 0) return;
    if (current === opening) {
      opening.idle = setTimeout(() => void opening.close().catch(() => undefined), IDLE_MS).unref();
      places.touch(opening);
    } else {
      // Until now, other requests on the lost connection could still get their answers.
      opening.opened.then(
        ({ end }) => end(),
        () => undefined,
      );
    }
  }

  /** Makes one attempt. `isSent` is true if the server may have received the request. */
  async function request<Answer>(
    signal: AbortSignal,
    ask: (client: Client, options: object) => Promise<Answer>,
  ): Promise<{ answer: Answer } | { failure: McpError; isSent: boolean }> {
    const opening = (current ??= open());
    clearTimeout(opening.idle);
    opening.users += 1;
    let opened: Opened | undefined;
    const lost = new AbortController();
    const over = new AbortController();
    const flight: InFlight = {
      isResumable: false,
      over: over.signal,
      fail: (why) => lost.abort(why),
    };
    const options = {
      signal: AbortSignal.any([signal, lost.signal]),
      timeout: callTimeoutMs + LATER_MS,
      onresumptiontoken: () => {
        flight.isResumable = true;
      },
    };
    try {
      opened = await orAborted(opening.opened, signal);
      const { client } = opened;
      const asked = inFlight.run(flight, () => ask(client, options));
      return { answer: await orAborted(asked, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (opened === undefined) return { failure: toFailure(name, error), isSent: false };
      const why: unknown = lost.signal.aborted ? lost.signal.reason : (opened.ended() ?? error);
      const hasSession = opened.client.transport?.sessionId !== undefined;
      const failure = toFailure(name, why, hasSession);
      if (failure.code === 'mcp_connection_lost' || failure.isUnsent) leave(opening);
      return { failure, isSent: !failure.isUnsent };
    } finally {
      release(opening);
      setTimeout(() => over.abort(), OVER_MS).unref();
    }
  }

  async function repeat<Answer>(
    signal: AbortSignal,
    isRepeatable: boolean,
    ask: (client: Client, options: object) => Promise<Answer>,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const tried = await request(signal, ask);
      if ('answer' in tried) return tried.answer;
      const { failure, isSent } = tried;
      const isPassing = ['mcp_connection_lost', 'mcp_unavailable'].includes(failure.code);
      // A new session may take what the server refused because it had forgotten this one.
      const isForgotten = failure.isUnsent && attempt === 1;
      if (!isPassing && !isForgotten) throw failure;
      if (isSent && !isRepeatable) throw unknownOutcome(name, failure);
      if (attempt === TRIES) throw isSent ? failure : unavailable(name, failure);
      await sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), signal);
      signal.throwIfAborted();
    }
  }

  async function list(signal: AbortSignal): Promise<unknown[]> {
    const limited = endsWithin(2 * connectTimeoutMs, signal);
    const ask = (params: Params) =>
      repeat(limited, true, (client, options) =>
        client.request({ method: 'tools/list', params }, ToolsPage, options),
      );
    try {
      return await listPages(ask, (fault) =>
        logger.warn({ server: name, fault }, 'a list of tools is used as far as it goes'),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (limited.aborted) throw unavailable(name);
      throw isOdd(error) ? new McpError('mcp_invalid_tools', error.message, error) : error;
    }
  }

  return {
    redact,
    listTools: list,
    call: ({ tool, input, key, isRepeatable, signal }) =>
      repeat(signal, isRepeatable, (client, options) => {
        const _meta = { 'helix-temporal/idempotency-key': key };
        const params = { name: tool, arguments: input, _meta };
        return client.request({ method: 'tools/call', params }, CallAnswer, options);
      }),
  };
}

/** Faults in the answers of a reachable server. */
const LIST_FAULTS: ReadonlySet<string> = new Set([
  'mcp_bad_answer',
  'mcp_call_refused',
  'tool_result_too_large',
]);

function isOdd(error: unknown): error is McpError {
  return error instanceof McpError && LIST_FAULTS.has(error.code);
}

function unknownOutcome(name: string, cause: unknown): McpError {
  const text = `The server "${name}" went away during the call; whether the tool has done its work is not known.`;
  return new McpError('tool_outcome_unknown', text, cause);
}

interface Params extends Record<string, unknown> {
  cursor?: string;
}

/** Reads the pages of a list. A fault after the first page ends the list instead of failing it. */
async function listPages(
  ask: (params: Params) => Promise<z.output<typeof ToolsPage>>,
  end: (fault: string) => void,
): Promise<unknown[]> {
  const tools: unknown[] = [];
  const cursors = new Set<string>();
  let params: Params = {};
  for (;;) {
    const answer = await ask(params).catch((error: unknown) => {
      if (cursors.size === 0 || !isOdd(error)) throw error;
      return undefined;
    });
    if (answer === undefined) {
      end('a page of it cannot be read');
      break;
    }
    tools.push(...answer.tools);
    const { nextCursor: cursor = '' } = answer;
    if (tools.length > LISTED || (cursor !== '' && cursors.size + 1 === PAGES)) {
      end('it is too long');
      break;
    }
    if (cursor === '') break;
    if (cursors.has(cursor)) {
      end('its cursor does not advance');
      break;
    }
    cursors.add(cursor);
    params = { cursor };
  }
  return tools.slice(0, LISTED);
}

/** A connection that is being made or open. */
interface Opening {
  opened: Promise<Opened>;
  /** Requests that use it or wait for it. */
  users: number;
  idle?: NodeJS.Timeout;
  close: () => Promise<void>;
}

/** A bounded number of places. When all are taken, the connection that has been idle longest is closed. */
interface Places {
  /** @throws AbortError if the signal aborts while all places are in use; an error once all are closed */
  take: (opening: Opening, signal: AbortSignal) => Promise<void>;
  touch: (opening: Opening) => void;
  giveBack: (opening: Opening) => void;
  closeAll: () => Promise<unknown>;
}

const CHANGE = 'change';

function createPlaces(max: number): Places {
  /** The least recently used first. */
  const held = new Set<Opening>();
  const changes = new EventEmitter().setMaxListeners(0);
  let isClosed = false;
  return {
    take: async (opening, signal) => {
      for (;;) {
        // Between two pages of a list nobody uses the connection for a moment.
        await setImmediate();
        // `closeAll` closes only connections that are open when it is called.
        if (isClosed) throw new Error('the process closes');
        if (held.size < max) break;
        const idle = [...held].find(({ users }) => users === 0);
        if (idle === undefined) await once(changes, CHANGE, { signal });
        else idle.close().catch(() => undefined);
      }
      held.add(opening);
    },
    touch: (opening) => {
      if (held.delete(opening)) held.add(opening);
      changes.emit(CHANGE);
    },
    giveBack: (opening) => {
      held.delete(opening);
      changes.emit(CHANGE);
    },
    closeAll: () => {
      isClosed = true;
      return Promise.allSettled([...held].map(({ close }) => close()));
    },
  };
}

/** Open connections and programs per process. Agents made by factories open some for each run. */
const MAX_OPEN = 100;

/** The connections of one process: one to each server of each agent, shared by its runs. */
export interface McpConnections {
  /** Returns the connection for these settings. Settings that a factory makes for one user serve only that user. */
  to: (name: string, server: McpServer) => McpConnection;
}

const byHost = new WeakMap<ToolHost, McpConnections>();

/** Returns the connections of a process, which are closed with it. */
export function connectionsOf(host: ToolHost, mostOpen = MAX_OPEN): McpConnections {
  const known = byHost.get(host);
  if (known !== undefined) return known;
  const places = createPlaces(mostOpen);
  const connections = new WeakMap<McpServer, McpConnection>();
  const ofHost: McpConnections = {
    to: (name, server) => {
      const connection =
        connections.get(server) ?? createMcpConnection(name, server, { ...host, places });
      connections.set(server, connection);
      return connection;
    },
  };
  byHost.set(host, ofHost);
  host.onClose(async () => void (await places.closeAll()));
  return ofHost;
}

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ToolHost } from '../../agents/index.js';
import { LIMITS } from '../../protocol/limits.js';
import { isMissing, MissingPackageError } from '../../protocol/errors.js';
import { withTimeout } from '../../protocol/time.js';
import { connectionLost, McpError, toFailure, tooLarge, unavailable } from './errors.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { keepSecret, type Redact } from './secrets.js';
import type { McpServer } from './servers.js';

export const CONNECT_MS = 10_000;
const LOGGED = 20;
const LOGGED_CHARS = 500;
/** Limit of one program's output to the log, in characters. */
const STDERR_CHARS = 16 * 1024;
const LEAVE_MS = 1_000;
const MAX_UNREAD = 1_000;
const ID_CHARS = 1_000;

export interface Surroundings {
  logger: ToolHost['logger'];
  redact: Redact;
  secrets: Set<string>;
}

export interface Opened {
  client: Client;
  /** Returns the reason why the connection is unusable, if it is. */
  ended: () => McpError | undefined;
  /** Ends a lost connection. */
  end: () => void;
  /** Leaves the server, then ends the connection. */
  close: () => Promise<void>;
}

/**
 * Starts a server's program or connects to its URL.
 *
 * @param onEnd called when no further request is to be made
 * @throws McpError
 */
export async function openMcpServer(
  name: string,
  server: McpServer,
  surroundings: Surroundings,
  onEnd: () => void,
): Promise<Opened> {
  const { logger, redact } = surroundings;
  const { connectTimeoutMs = CONNECT_MS } = server;
  const sdk = await loadSdk();
  const { transport, leave, release } = createTransport(sdk, name, server, surroundings);
  boundUnread(transport, name);
  const client = new sdk.Client({ name: 'helix-temporal', version: '1' });
  let ended: McpError | undefined;
  let logged = 0;

  function end(why: McpError): void {
    if (ended !== undefined) return;
    ended = why;
    onEnd();
    client.close().catch(() => undefined);
    release();
  }

  client.onclose = () => end(connectionLost(name));
  client.onerror = ({ message }) => {
    logged += 1;
    if (logged <= LOGGED) {
      const error = redact(message).slice(0, LOGGED_CHARS);
      logger.info({ server: name, error }, 'a server of tools reports a fault');
    }
    // The start of the next message is unknown after an overflow.
    if (message.startsWith('ReadBuffer exceeded')) end(tooLarge());
  };
  const limits = { timeout: connectTimeoutMs, maxTotalTimeout: connectTimeoutMs };
  try {
    const connecting = client.connect(transport, limits);
    await withTimeout(connectTimeoutMs, connecting);
  } catch (error) {
    const failure = toFailure(name, error);
    const text = redact(String(error)).slice(0, LOGGED_CHARS);
    logger.warn({ server: name, code: failure.code, error: text }, 'a server of tools is away');
    end(failure);
    throw PASSING.has(failure.code) ? unavailable(name, failure) : failure;
  }
  return {
    client,
    ended: () => ended,
    end: () => end(unavailable(name)),
    close: async () => {
      await leave();
      end(unavailable(name));
      await client.close();
    },
  };
}

/** Codes of a refused or broken handshake; for a run the server is unavailable then. */
const PASSING: ReadonlySet<string> = new Set(['mcp_call_refused', 'mcp_connection_lost']);

const PACKAGE = '@modelcontextprotocol/sdk';

/** Loads the SDK. @throws McpError `mcp_unavailable` if it is not installed */
async function loadSdk() {
  // Bundlers let an import fail that is in a `try`.
  try {
    const [client, stdio, http] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ]);
    return { ...client, ...stdio, ...http };
  } catch (error) {
    if (!isMissing(error, PACKAGE)) throw error;
    const missing = new MissingPackageError('mcpServers', PACKAGE, error);
    throw new McpError('mcp_unavailable', missing.message, missing);
  }
}

interface OwnedTransport {
  transport: Transport;
  /** Ends the session at the server if the protocol has one; takes a second at most. */
  leave: () => Promise<void>;
  /** Frees resources that closing the transport leaves open. */
  release: () => void;
}

function createTransport(
  sdk: Awaited<ReturnType<typeof loadSdk>>,
  name: string,
  server: McpServer,
  { logger, redact, secrets }: Surroundings,
): OwnedTransport {
  if ('command' in server) {
    const { command, args, env, cwd } = server;
    const transport = new sdk.StdioClientTransport({
      command,
      ...(args !== undefined && { args: [...args] }),
      ...(env !== undefined && { env: { ...env } }),
      ...(cwd !== undefined && { cwd }),
      stderr: 'pipe',
      maxBufferSize: LIMITS.mcpMessageBytes,
    });
    let left = STDERR_CHARS;
    transport.stderr?.on('data', (chunk: Buffer) => {
      if (left <= 0) return;
      const text = redact(chunk.toString()).slice(0, left);
      left -= text.length;
      logger.info({ server: name, stderr: text }, 'a server of tools writes');
    });
    sendInTurn(transport);
    return { transport, leave: () => Promise.resolve(), release: () => undefined };
  }
  const { fetch, close } = createGuardedFetch(server, (value) => keepSecret(secrets, value));
  const { url, authProvider } = server;
  const transport = new sdk.StreamableHTTPClientTransport(new URL(url), {
    fetch,
    ...(authProvider !== undefined && { authProvider: authProvider as never }),
  });
  const leave = async (): Promise<void> => {
    const left = transport.terminateSession().catch(() => undefined);
    await withTimeout(LEAVE_MS, left).catch(() => undefined);
  };
  return { transport, leave, release: close };
}

/** Lets each message wait for the one before: the SDK adds a listener for each that a program leaves unread. */
function sendInTurn(transport: Transport): void {
  const send = transport.send.bind(transport);
  let before = Promise.resolve();
  transport.send = (message) => {
    const sendNext = (): Promise<void> => send(message);
    before = before.then(sendNext, sendNext);
    return before;
  };
}

/** Bounds the unread messages to a server that sends requests without reading the answers. */
function boundUnread(transport: Transport, name: string): void {
  const send = transport.send.bind(transport);
  let unread = 0;
  transport.send = async (message, options) => {
    const isLong = 'id' in message && String(message.id).length > ID_CHARS;
    if (unread >= MAX_UNREAD || isLong) throw connectionLost(name, undefined, true);
    unread += 1;
    try {
      await send(message, options);
    } finally {
      unread -= 1;
    }
  };
}

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { toFailure } from './failures.js';
import { tooLarge } from './guarded-fetch.js';
import { loadSdk } from './load-sdk.js';
import { McpError } from './mcp-error.js';
import type { McpServer } from './mcp-servers.js';
import { createMcpTransport, type Surroundings } from './mcp-transport.js';
import { orAborted } from './or-aborted.js';

const CONNECT_MS = 10_000;
/** Faults of one connection that are logged. */
const LOGGED = 20;
const LOGGED_CHARS = 500;

/** A server that has agreed to talk. */
export interface Opened {
  client: Client;
  /** Why it can be used no more. */
  ended: () => McpError | undefined;
  /** A request begins; returns what is to be called at its end. */
  enter: () => () => void;
  /** It is closed once its requests have ended. */
  retire: () => void;
  close: () => Promise<void>;
}

/**
 * Starts a server, or connects to it.
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
  const transport = createMcpTransport(sdk, name, server, surroundings);
  const client = new sdk.Client({ name: 'helix-temporal', version: '1' });
  let ended: McpError | undefined;
  let isRetired = false;
  let requests = 0;
  let logged = 0;

  function end(why: McpError): void {
    if (ended !== undefined) return;
    ended = why;
    onEnd();
    client.close().catch(() => undefined);
    transport.release();
  }

  client.onclose = () => {
    end(new McpError('mcp_connection_lost', `The server "${name}" has gone.`));
  };
  client.onerror = ({ message }) => {
    logged += 1;
    if (logged <= LOGGED) {
      const error = redact(message).slice(0, LOGGED_CHARS);
      logger.info({ server: name, error }, 'a server of tools reports a fault');
    }
    // Where the next message begins cannot be seen any more.
    if (message.startsWith('ReadBuffer exceeded')) end(tooLarge());
  };
  const limits = { timeout: connectTimeoutMs, maxTotalTimeout: connectTimeoutMs };
  try {
    const connecting = client.connect(transport.transport, limits);
    await orAborted(connecting, AbortSignal.timeout(connectTimeoutMs));
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
    enter: () => {
      requests += 1;
      return () => {
        requests -= 1;
        if (isRetired && requests === 0) end(unavailable(name));
      };
    },
    retire: () => {
      isRetired = true;
      onEnd();
    },
    close: async () => {
      await transport.leave();
      end(unavailable(name));
      await client.close();
    },
  };
}

/** A handshake that is refused or breaks off: the same for a run as a server that is away. */
const PASSING: ReadonlySet<string> = new Set(['mcp_call_refused', 'mcp_connection_lost']);

export function unavailable(name: string, cause?: unknown): McpError {
  return new McpError('mcp_unavailable', `The server "${name}" cannot be reached.`, cause);
}

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LIMITS } from '../../protocol/limits.js';
import type { McpFailure } from './failures.js';
import { createGuardedFetch } from './guarded-fetch.js';
import type { McpSdk } from './load-sdk.js';
import { McpError } from './mcp-error.js';
import type { McpServer } from './mcp-servers.js';
import { orAborted } from './or-aborted.js';
import { keepSecret, type Redact } from './secrets.js';

/** The part of a logger that connections use. */
export interface McpLogger {
  info: (fields: object, message: string) => void;
  warn: (fields: object, message: string) => void;
}

export interface Surroundings {
  logger: McpLogger;
  redact: Redact;
  /** Gets the secrets of headers. */
  secrets: Set<string>;
}

export interface OwnedTransport {
  transport: Transport;
  /** Tells the server that nothing follows, if it wants to know; takes a second at most. */
  leave: () => Promise<void>;
  /** Frees what closing the transport does not. */
  release: () => void;
}

/** What one process may write to its log. */
const STDERR_CHARS = 16 * 1024;
const LEAVE_MS = 1_000;
/** Messages that a server has not read yet. */
const MOST_UNREAD = 1_000;
/** An id of its own that an answer repeats. */
const ID_CHARS = 1_000;

/** A transport that is not connected yet. */
export function createMcpTransport(
  sdk: McpSdk,
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
    boundUnread(transport, name);
    return { transport, leave: () => Promise.resolve(), release: () => undefined };
  }
  const { fetch, close } = createGuardedFetch(server, (value) => {
    keepSecret(secrets, value);
  });
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    fetch: fetch,
    ...(server.authProvider !== undefined && { authProvider: server.authProvider as never }),
  });
  boundUnread(transport, name);
  const leave = async (): Promise<void> => {
    const left = transport.terminateSession().catch(() => undefined);
    await orAborted(left, AbortSignal.timeout(LEAVE_MS)).catch(() => undefined);
  };
  return { transport: transport, leave, release: close };
}

/** Answers to a server that asks without end and reads nothing would fill the memory. */
function boundUnread(transport: Transport, name: string): void {
  const send = transport.send.bind(transport);
  let unread = 0;
  transport.send = async (message, options) => {
    const isLong = 'id' in message && String(message.id).length > ID_CHARS;
    if (unread >= MOST_UNREAD || isLong) {
      const text = `The server "${name}" does not read what it is sent, or asks with an endless id.`;
      throw Object.assign<McpFailure, object>(new McpError('mcp_connection_lost', text), {
        isUnsent: true,
      });
    }
    unread += 1;
    try {
      await send(message, options);
    } finally {
      unread -= 1;
    }
  };
}

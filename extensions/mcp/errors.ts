import { ToolError } from '../../agents/index.js';

/**
 * - `mcp_unavailable`: the server cannot be started or reached, or does not answer in time
 * - `mcp_unauthorized`: the server rejects the credentials
 * - `mcp_address_refused`: the server's address must not be connected to
 * - `mcp_invalid_tools`: the server's list of tools cannot be used
 * - `mcp_connection_lost`: the connection broke in every attempt of a repeatable call
 * - `mcp_call_refused`: the server refused a call with a protocol error
 * - `mcp_tool_error`: the tool reported an error
 * - `mcp_bad_answer`: the answer violates the protocol
 */
export type McpErrorCode =
  | 'mcp_unavailable'
  | 'mcp_unauthorized'
  | 'mcp_address_refused'
  | 'mcp_invalid_tools'
  | 'mcp_connection_lost'
  | 'mcp_call_refused'
  | 'mcp_tool_error'
  | 'mcp_bad_answer'
  | 'tool_result_too_large'
  | 'tool_outcome_unknown';

/** A failure of an MCP server. Its message contains no settings, which may be secret. */
export class McpError extends ToolError {
  override readonly name = 'McpError';
  declare readonly code: McpErrorCode;
  /** True if the server has not executed the request. */
  isUnsent = false;
}

export function unavailable(name: string, cause?: unknown): McpError {
  return new McpError('mcp_unavailable', `The server "${name}" cannot be reached.`, cause);
}

export function connectionLost(name: string, cause?: unknown, isUnsent = false): McpError {
  const text = `The connection to the server "${name}" was lost.`;
  return Object.assign(new McpError('mcp_connection_lost', text, cause), { isUnsent });
}

export function tooLarge(): McpError {
  return new McpError('tool_result_too_large', 'The result is too large.');
}

/** Error codes of connections that were never made. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Classifies errors of the SDK and of sockets by their meaning for a call. Messages are written here,
 * because the originals may quote addresses, headers and answers.
 *
 * @param hasSession true if the request belonged to a session of the server
 */
export function toFailure(name: string, error: unknown, hasSession = false): McpError {
  const own = findMcpError(error);
  if (own !== undefined) return own;
  const { code, message = '', issues } = (error ?? {}) as SdkError;
  const isError = error instanceof Error;
  if (isError && error.name === 'UnauthorizedError') return unauthorized(name, error);
  if (Array.isArray(issues) || error instanceof SyntaxError) return badAnswer(name, error);
  if (isError && message.startsWith('Streamable HTTP error') && typeof code === 'number') {
    return ofStatus(name, code, error, hasSession);
  }
  // Numeric codes are JSON-RPC errors, so the server has answered.
  if (typeof code === 'number' && !message.includes('Connection closed')) {
    return refused(name, code, error);
  }
  const isUnsent = message === 'Not connected' || (typeof code === 'string' && UNSENT.has(code));
  return connectionLost(name, error, isUnsent);
}

interface SdkError {
  code?: unknown;
  message?: string;
  issues?: unknown;
}

function ofStatus(name: string, status: number, cause: Error, hasSession: boolean): McpError {
  if (status === 401 || status === 403) return unauthorized(name, cause);
  // A server that has forgotten the session has not executed the request.
  if (status === 404 || status >= 500) return connectionLost(name, cause, status === 404);
  if (status < 0) return badAnswer(name, cause);
  // After a restart many servers answer 400 to a session that they no longer know.
  return Object.assign(refused(name, status, cause), { isUnsent: hasSession && status === 400 });
}

function unauthorized(name: string, cause: Error): McpError {
  return new McpError('mcp_unauthorized', `The server "${name}" accepts no credentials.`, cause);
}

function badAnswer(name: string, cause: unknown): McpError {
  const text = `The server "${name}" gave an answer that cannot be read.`;
  return new McpError('mcp_bad_answer', text, cause);
}

function refused(name: string, code: number, cause: unknown): McpError {
  const text = `The server "${name}" refused the request (${String(code)}).`;
  return new McpError('mcp_call_refused', text, cause);
}

/** Finds an McpError among the causes: streams and sockets wrap the error that aborted them. */
function findMcpError(error: unknown): McpError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof McpError) return at;
  }
  return undefined;
}

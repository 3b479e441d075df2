import { ToolError } from '../../agents/index.js';

/**
 * - `mcp_unavailable`: it cannot be started or connected to, or does not answer in time
 * - `mcp_unauthorized`: it does not accept the credentials
 * - `mcp_address_refused`: it leads to an address that must not be connected to
 * - `mcp_invalid_tools`: its list of tools cannot be used
 * - `mcp_connection_lost`: it went away during a call that changes nothing, again and again
 * - `mcp_call_refused`: it refused a call by an error of the protocol
 * - `mcp_tool_error`: the tool reports an error
 * - `mcp_bad_answer`: an answer that the protocol does not know
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

/** A failure of a server of tools. The message holds nothing of its settings, which may be secret. */
export class McpError extends ToolError {
  override readonly name = 'McpError';
  declare readonly code: McpErrorCode;
  /** The server has not carried out what it was asked. */
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

/** Nothing listens, or the name is unknown. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * What the SDK and sockets throw, by what it means for a call. The texts are ours: theirs may quote
 * addresses, headers and answers.
 */
export function toFailure(name: string, error: unknown): McpError {
  const own = findMcpError(error);
  if (own !== undefined) return own;
  const { code, message = '', issues } = (error ?? {}) as SdkError;
  const isError = error instanceof Error;
  if (isError && error.name === 'UnauthorizedError') return unauthorized(name, error);
  if (Array.isArray(issues) || error instanceof SyntaxError) return badAnswer(name, error);
  if (isError && message.startsWith('Streamable HTTP error') && typeof code === 'number') {
    return ofStatus(name, code, error);
  }
  // A number is an error of JSON-RPC, so the server has answered.
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

function ofStatus(name: string, status: number, cause: Error): McpError {
  if (status === 401 || status === 403) return unauthorized(name, cause);
  // A server that has forgotten its session has not carried out what it was asked.
  if (status === 404 || status >= 500) return connectionLost(name, cause, status === 404);
  return status < 0 ? badAnswer(name, cause) : refused(name, status, cause);
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

/** Streams and sockets wrap what they were cut with. */
function findMcpError(error: unknown): McpError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at instanceof McpError) return at;
  }
  return undefined;
}

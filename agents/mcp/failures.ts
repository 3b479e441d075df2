import { McpError } from './mcp-error.js';

/** Never reached the server: nothing listens, or the name is unknown. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
/** A session that the server has forgotten; it did not carry out what was asked. */
const FORGOTTEN = 404;
const FIRST_SERVER_ERROR = 500;

export type McpFailure = McpError & { isUnsent?: boolean };

/**
 * What the SDK and sockets throw, by what it means for a call. The texts are ours: theirs may quote
 * addresses, headers and answers.
 */
export function toFailure(name: string, error: unknown): McpFailure {
  if (error instanceof McpError) return error;
  const {
    code,
    message = '',
    issues,
  } = (error ?? {}) as {
    code?: unknown;
    message?: string;
    issues?: unknown;
  };
  const inner = findMcpError(error);
  if (inner !== undefined) return inner;
  if (error instanceof Error && error.name === 'UnauthorizedError')
    return unauthorized(name, error);
  if (Array.isArray(issues) || error instanceof SyntaxError) {
    const text = `The server "${name}" gave an answer that cannot be read.`;
    return new McpError('mcp_bad_answer', text, error);
  }
  const isOfHttp = error instanceof Error && message.startsWith('Streamable HTTP error');
  if (isOfHttp && typeof code === 'number') return ofStatus(name, code, error);
  // A number is an error of JSON-RPC, so the server has answered.
  if (typeof code === 'number' && !message.includes('Connection closed')) {
    const text = `The server "${name}" refused the request (${String(code)}).`;
    return new McpError('mcp_call_refused', text, error);
  }
  const text = `The connection to the server "${name}" was lost.`;
  const lost: McpFailure = new McpError('mcp_connection_lost', text, error);
  lost.isUnsent = message === 'Not connected' || (typeof code === 'string' && UNSENT.has(code));
  return lost;
}

function ofStatus(name: string, status: number, cause: Error): McpFailure {
  if (status === 401 || status === 403) return unauthorized(name, cause);
  if (status === FORGOTTEN || status >= FIRST_SERVER_ERROR) {
    const text = `The connection to the server "${name}" was lost.`;
    const lost: McpFailure = new McpError('mcp_connection_lost', text, cause);
    lost.isUnsent = status === FORGOTTEN;
    return lost;
  }
  const isOdd = status < 0;
  return new McpError(
    isOdd ? 'mcp_bad_answer' : 'mcp_call_refused',
    `The server "${name}" ${isOdd ? 'gave an answer that cannot be read' : `refused the request (${String(status)})`}.`,
    cause,
  );
}

function unauthorized(name: string, cause: Error): McpError {
  return new McpError('mcp_unauthorized', `The server "${name}" accepts no credentials.`, cause);
}

/** Streams and sockets wrap what they were cut with. */
function findMcpError(error: unknown): McpError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if (at instanceof McpError) return at;
  }
  return undefined;
}

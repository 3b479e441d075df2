import type { Duplex } from 'node:stream';
import type { ProblemBody } from '../../protocol/http.js';

/** Replies by Node's error code; any other one is a bad request. */
const STATUS: Record<string, [line: string, error: string] | undefined> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long.'],
};

/** Replies to bytes that are not an HTTP request, in the form of every refusal, and closes. */
export function answerMalformedRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [line, text] = STATUS[error.code ?? ''] ?? [
    '400 Bad Request',
    'This is not an HTTP request.',
  ];
  const problem: ProblemBody = { error: text, code: 'validation_error' };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${line}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${String(Buffer.byteLength(body))}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

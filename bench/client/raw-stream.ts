import { connect } from 'node:net';
import { wallClock } from '../clock.js';

/** Shared read buffer: its content is processed before the next socket reads. */
const INPUT = Buffer.allocUnsafe(256 * 1024);
/** Characters of a refusal that are shown. */
const SHOWN = 200;
const LAST_CHUNK = '\r\n0\r\n\r\n';

export interface RawRequest {
  port: number;
  path: string;
  headers?: Record<string, string> | undefined;
  /** ASCII only. With it the request is a POST, else a GET. */
  body?: string;
  /** Called with the raw bytes, including the framing; returns true to stop reading. */
  onPiece: (piece: string, at: number) => unknown;
  /** Disconnects. */
  signal?: AbortSignal | undefined;
}

/**
 * Sends a request over a bare socket: at ten thousand frames a second Node's HTTP client would take twice the
 * time, on the two cores that are being measured.
 *
 * Resolves when the reply is complete or was left, rejects if it is cut.
 */
export function readRaw(request: RawRequest): Promise<void> {
  const { port, onPiece, signal } = request;
  return new Promise((resolve, reject) => {
    let begin = '';
    let end = '';
    let hasLeft = false;
    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: INPUT,
        callback: (size) => {
          const at = wallClock();
          const piece = INPUT.toString('latin1', 0, size);
          if (begin === '') begin = piece;
          end = (end + piece).slice(-LAST_CHUNK.length);
          if (onPiece(piece, at) === true) leave();
          return true;
        },
      },
    });
    const leave = (): void => {
      hasLeft = true;
      socket.destroy();
    };
    signal?.addEventListener('abort', leave);
    socket.once('error', reject);
    socket.once('close', () => {
      signal?.removeEventListener('abort', leave);
      if (hasLeft || end === LAST_CHUNK) resolve();
      else reject(new Error(`the reply was cut or refused: ${toStart(begin)}`));
    });
    socket.write(toText(request));
    if (signal?.aborted === true) leave();
  });
}

/** Returns the status line and, if the reply was short, its text. */
function toStart(begin: string): string {
  const [head = '', body = ''] = begin.split('\r\n\r\n');
  return `${head.split('\r\n')[0] ?? ''} ${body.slice(0, SHOWN)}`;
}

function toText({ port, path, headers = {}, body = '' }: RawRequest): string {
  return [
    `${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${String(port)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${String(body.length)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

/**
 * A minimal parser of server-sent events: passes on the text after `data: ` of each line. The load client
 * shares two cores with the measured processes, so it does nothing more.
 */
export function createDataLines(onData: (text: string, at: number) => void, mark = 'data: ') {
  let rest = '';
  return (piece: string, at: number): void => {
    const text = rest === '' ? piece : rest + piece;
    let from = 0;
    for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
      if (text.startsWith(mark, from)) onData(text.slice(from + mark.length, end), at);
      from = end + 1;
    }
    rest = text.slice(from);
  };
}

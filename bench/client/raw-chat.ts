import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { wallClock } from '../clock.js';
import { createDataLines } from './data-lines.js';
import type { OnEvent } from './chat-client.js';

/** Every socket reads into it, and what is in it is looked at before the next one reads. */
const INPUT = Buffer.allocUnsafe(256 * 1024);
const LAST_CHUNK = '\r\n0\r\n\r\n';

/**
 * Says something to the lab agent on a bare socket: at ten thousand frames a second Node's HTTP client
 * takes twice the time, on the two cores that are being measured. Frames are told from the framing
 * around them by their `data: `, which holds as long as each is written whole, and texts must be ASCII.
 *
 * Resolves when the reply is over, rejects if it is cut or refused.
 */
export function sayRaw(
  port: number,
  sessionId: string,
  text: string,
  onEvent: OnEvent,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let end = '';
    const takeLines = createDataLines(onEvent);
    const socket = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: {
        buffer: INPUT,
        callback: (size) => {
          const at = wallClock();
          const piece = INPUT.toString('latin1', 0, size);
          end = (end + piece).slice(-LAST_CHUNK.length);
          takeLines(piece, at);
          return true;
        },
      },
    });
    socket.once('error', reject);
    socket.once('close', () => {
      if (end === LAST_CHUNK) resolve();
      else reject(new Error('the reply was cut or refused'));
    });
    socket.write(toRequest(port, sessionId, text));
  });
}

function toRequest(port: number, sessionId: string, text: string): string {
  const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  const body = JSON.stringify({ id: sessionId, agent: 'lab', messages: [message] });
  return [
    `POST /api/chat/${sessionId} HTTP/1.1`,
    `host: 127.0.0.1:${String(port)}`,
    'content-type: application/json',
    `content-length: ${String(body.length)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawReply {
  /** Status of the first response; 0 if none came. */
  status: number;
  headers: string;
  body: string;
  text: string;
}

/** A connection to an HTTP server that sends arbitrary bytes. */
export interface RawConnection {
  socket: Socket;
  /** Sends the bytes in one piece, which counts as taken once all of it has gone out. */
  send: (bytes: string | Uint8Array) => void;
  closed: Promise<void>;
  /** Resolves with the first response once its body is complete or the server hangs up. */
  reply: Promise<RawReply>;
  /** Number of bytes that the server, or its machine's kernel, has taken. */
  taken: () => number;
}

export async function connectRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // A server that closes while the client still sends resets the connection.
  socket.on('error', () => undefined);
  let text = '';
  let taken = 0;
  const closed = new Promise<void>((resolve) =>
    socket.once('close', () => {
      resolve();
    }),
  );
  const reply = new Promise<RawReply>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      const parsed = parse(text);
      if (isWhole(parsed)) resolve(parsed);
    });
    void closed.then(() => {
      resolve(parse(text));
    });
  });
  await once(socket, 'connect');
  return {
    socket,
    closed,
    reply,
    send: (bytes) => {
      socket.write(bytes, (error) => {
        if (error == null) taken += bytes.length;
      });
    },
    taken: () => taken,
  };
}

function parse(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n');
  const headers = end < 0 ? text : text.slice(0, end);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0),
    headers,
    body: end < 0 ? '' : text.slice(end + 4),
    text,
  };
}

function isWhole({ headers, body, status }: RawReply): boolean {
  if (status === 204) return true;
  const length = /^content-length: (\d+)/im.exec(headers)?.[1];
  return length !== undefined && body.length >= Number(length);
}

import type { Duplex } from 'node:stream';
import type { RedisConnection } from './clients.js';

const corked = new WeakSet<Duplex>();

/**
 * Sends what the current turn of the event loop writes to Redis in one system call. With hundreds
 * of streams many appends fall into one turn, and a system call for each costs a third of a
 * worker's time. Unlike in a pipeline, each command gets its own reply, so none waits for another.
 */
export function corkWrites(redis: RedisConnection): void {
  if ('nodes' in redis) for (const node of redis.nodes('master')) cork(socketOf(node));
  else cork(socketOf(redis));
}

function cork(socket: Duplex | undefined): void {
  if (socket === undefined || corked.has(socket)) return;
  corked.add(socket);
  socket.cork();
  setImmediate(() => {
    corked.delete(socket);
    socket.uncork();
  });
}

/** The socket is private in ioredis; if it is missing, writes are sent one by one. */
function socketOf(redis: object): Duplex | undefined {
  return (redis as { stream?: Duplex | null }).stream ?? undefined;
}

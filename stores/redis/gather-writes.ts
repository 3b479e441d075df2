import type { Duplex } from 'node:stream';
import type { RedisConnection } from './clients.js';

const gathering = new WeakSet<Duplex>();

/**
 * Sends what this turn of the event loop writes to Redis in one system call. With hundreds of
 * streams many appends fall into one turn, and a call each is a third of a worker's time. Each
 * command keeps its own reply, unlike in a pipeline, so none waits for another.
 */
export function gatherWrites(redis: RedisConnection): void {
  if ('nodes' in redis) for (const node of redis.nodes('master')) gatherOn(socketOf(node));
  else gatherOn(socketOf(redis));
}

function gatherOn(socket: Duplex | undefined): void {
  if (socket === undefined || gathering.has(socket)) return;
  gathering.add(socket);
  socket.cork();
  setImmediate(() => {
    gathering.delete(socket);
    socket.uncork();
  });
}

/** ioredis keeps its socket to itself; without one, writes go out one by one. */
function socketOf(redis: object): Duplex | undefined {
  return (redis as { stream?: Duplex | null }).stream ?? undefined;
}

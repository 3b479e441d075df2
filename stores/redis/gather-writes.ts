import type { Duplex } from 'node:stream';
import type { Cluster, Redis } from 'ioredis';

const gathering = new WeakSet<Duplex>();

/**
 * Sends what this turn of the event loop writes to Redis in one system call. With hundreds of
 * streams many appends fall into one turn, and a call each is a third of a worker's time. Each
 * command keeps its own reply, unlike in a pipeline, so none waits for another.
 */
export function gatherWrites(redis: Redis | Cluster): void {
  const socket = socketOf(redis);
  if (socket === undefined || gathering.has(socket)) return;
  gathering.add(socket);
  socket.cork();
  setImmediate(() => {
    gathering.delete(socket);
    socket.uncork();
  });
}

/** ioredis keeps its socket to itself; without one, writes go out one by one. */
function socketOf(redis: Redis | Cluster): Duplex | undefined {
  return (redis as unknown as { stream?: Duplex | null }).stream ?? undefined;
}

/**
 * The commands that the store sends beside its transitions; a connection of ioredis has them all, and
 * so has the keyspace of this process.
 */
export interface Commands {
  hgetall: (key: string) => Promise<Record<string, string>>;
  hget: (key: string, field: string) => Promise<string | null>;
  hset: (key: string, field: string, value: string) => Promise<number>;
  hdel: (key: string, field: string) => Promise<number>;
  hmget: (key: string, ...fields: string[]) => Promise<(string | null)[]>;
  hvals: (key: string) => Promise<string[]>;
  llen: (key: string) => Promise<number>;
  lrange: (key: string, from: number, to: number) => Promise<string[]>;
  set: (key: string, value: string, px: 'PX', ms: number, nx: 'NX') => Promise<'OK' | null>;
  zadd: (key: string, ...args: (string | number)[]) => Promise<unknown>;
  zrem: (key: string, member: string) => Promise<number>;
  zrangebyscore: (
    key: string,
    from: string | number,
    to: string | number,
    ...options: (string | number)[]
  ) => Promise<string[]>;
  /** The replies to reads of one moment, in their order. */
  together: (add: (reads: Reads) => unknown) => Promise<unknown[]>;
}

/** Reads that are sent together. */
export interface Reads {
  hgetall: (key: string) => Reads;
  hmget: (key: string, ...fields: string[]) => Reads;
  lrange: (key: string, from: number, to: number) => Reads;
  xlen: (key: string) => Reads;
}

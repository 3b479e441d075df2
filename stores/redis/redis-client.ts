/**
 * A client of ioredis 5 or 6: single, behind Sentinels, or a cluster. Described by what both versions have,
 * because the types of one do not accept a client of the other.
 */
export interface RedisClient {
  readonly status: string;
  disconnect(reconnect?: boolean): void;
  duplicate(...overrides: never[]): unknown;
  ssubscribe(...channels: never[]): unknown;
  evalsha(...command: never[]): unknown;
}

import type { RedisConnection } from './clients.js';

/** A connection for subscriptions, or what stands for one within this process. */
export type Subscriber = RedisConnection | LocalSubscriber;

export interface LocalSubscriber {
  on: (event: string, listener: (...args: string[]) => void) => unknown;
  ssubscribe: (channel: string) => Promise<unknown>;
  sunsubscribe: (channel: string) => Promise<unknown>;
  ping: () => Promise<unknown>;
  options: { keyPrefix?: string | undefined };
  status: string;
}

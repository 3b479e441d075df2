import { wrongType } from './reply.js';
import { COPY, EMPTY, type Contents, type ValueType } from './values.js';

/** Who may write to a value without copying it: one fork, between two forks. */
export type Epoch = object;

/** The last text that was made of a value; it goes with the first write. */
export interface Print {
  key: string;
  project: unknown;
  text: string | undefined;
}

export interface Stored<T extends ValueType = ValueType> {
  readonly type: T;
  readonly content: Contents[T];
  readonly owner: Epoch;
  print: Print | undefined;
}

export interface DatabaseOptions {
  now: () => number;
  publish?: ((channel: string, message: string) => void) | undefined;
}

/** The values by key, which forks share until one of them writes, and when keys expire. */
export class Database {
  readonly options: DatabaseOptions;
  private readonly values: Map<string, Stored>;
  private readonly expiries: Map<string, number>;
  private epoch: Epoch = {};

  constructor(options: DatabaseOptions, from?: Database) {
    this.options = options;
    this.values = new Map(from?.values);
    this.expiries = new Map(from?.expiries);
  }

  fork(): Database {
    // From now on this one owns nothing of what both have.
    this.epoch = {};
    return new Database(this.options, this);
  }

  now(): number {
    return this.options.now();
  }

  /** What is stored under a key, of whatever type. */
  lookup(key: string): Stored | undefined {
    if (this.expiries.size > 0) this.dropIfExpired(key);
    return this.values.get(key);
  }

  find<T extends ValueType>(key: string, type: T): Stored<T> | undefined {
    const stored = this.lookup(key);
    if (stored === undefined) return undefined;
    if (stored.type !== type) throw wrongType();
    return stored as Stored<T>;
  }

  /** The content of what was found, to be changed. */
  own<T extends ValueType>(key: string, stored: Stored<T>): Contents[T] {
    if (stored.owner === this.epoch) {
      stored.print = undefined;
      return stored.content;
    }
    return this.put(key, stored.type, COPY[stored.type](stored.content));
  }

  /** The same where there may be nothing yet; the caller puts something into what is empty. */
  ownOrCreate<T extends ValueType>(key: string, type: T): Contents[T] {
    const stored = this.find(key, type);
    return stored === undefined ? this.put(key, type, EMPTY[type]()) : this.own(key, stored);
  }

  /** Replaces whatever is there; when the key expires is left as it is. */
  put<T extends ValueType>(key: string, type: T, content: Contents[T]): Contents[T] {
    this.values.set(key, { type, content, owner: this.epoch, print: undefined });
    return content;
  }

  remove(key: string): boolean {
    if (this.expiries.size > 0) this.expiries.delete(key);
    return this.values.delete(key);
  }

  rename(from: string, to: string, stored: Stored): void {
    const expiry = this.expiries.get(from);
    this.remove(to);
    this.remove(from);
    this.values.set(to, stored);
    if (expiry !== undefined) this.expiries.set(to, expiry);
  }

  /** When a key that is there expires, milliseconds since the epoch. */
  expiryOf(key: string): number | undefined {
    return this.expiries.get(key);
  }

  setExpiry(key: string, at: number): void {
    this.expiries.set(key, at);
  }

  dropExpiry(key: string): boolean {
    return this.expiries.delete(key);
  }

  size(): number {
    this.dropExpired();
    return this.values.size;
  }

  clear(): void {
    this.values.clear();
    this.expiries.clear();
  }

  /** Everything that has not expired, by key. */
  sorted(): [key: string, stored: Stored][] {
    this.dropExpired();
    const sorted: [key: string, stored: Stored][] = [];
    for (const key of [...this.values.keys()].sort()) {
      const stored = this.values.get(key);
      if (stored !== undefined) sorted.push([key, stored]);
    }
    return sorted;
  }

  private dropIfExpired(key: string): void {
    const expiry = this.expiries.get(key);
    if (expiry !== undefined && this.now() > expiry) this.remove(key);
  }

  private dropExpired(): void {
    for (const key of [...this.expiries.keys()]) this.dropIfExpired(key);
  }
}

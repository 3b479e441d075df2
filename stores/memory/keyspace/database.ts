import { RedisError } from './reply.js';
import { FIRST_ID, type Stream } from './stream.js';

/** What is stored under a key, by the type that Redis names. */
export interface Contents {
  string: string;
  list: string[];
  set: Set<string>;
  /** Scores by member. */
  zset: Map<string, number>;
  hash: Map<string, string>;
  stream: Stream;
}

export type ValueType = keyof Contents;

const EMPTY: { readonly [T in ValueType]: () => Contents[T] } = {
  string: () => '',
  list: () => [],
  set: () => new Set(),
  zset: () => new Map(),
  hash: () => new Map(),
  stream: () => ({ entries: [], lastId: FIRST_ID }),
};

/** Copies a value so that writes to the copy do not show in the original. */
const COPY: { readonly [T in ValueType]: (content: Contents[T]) => Contents[T] } = {
  string: (text) => text,
  list: (elements) => elements.slice(),
  set: (members) => new Set(members),
  zset: (scores) => new Map(scores),
  hash: (fields) => new Map(fields),
  stream: ({ entries, lastId }) => ({ entries: entries.slice(), lastId }),
};

/** The text last computed for a value; dropped by the first write. */
export interface Print {
  key: string;
  project: unknown;
  text: string | undefined;
}

export interface Stored<T extends ValueType = ValueType> {
  readonly type: T;
  readonly content: Contents[T];
  /** The fork that may write to the value without copying it. */
  readonly owner: object;
  print: Print | undefined;
}

export interface DatabaseOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  publish?: (channel: string, message: string) => void;
}

/** Values by key, shared between forks until one of them writes, and the expiry of keys. */
export class Database {
  readonly options: DatabaseOptions;
  private readonly values: Map<string, Stored>;
  private readonly expiries: Map<string, number>;
  private epoch = {};

  constructor(options: DatabaseOptions, from?: Database) {
    this.options = options;
    this.values = new Map(from?.values);
    this.expiries = new Map(from?.expiries);
  }

  fork(): Database {
    // Both forks now share everything, so neither owns a value.
    this.epoch = {};
    return new Database(this.options, this);
  }

  /** Whole milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.options.now());
  }

  /** The value under a key, of any type. */
  lookup(key: string): Stored | undefined {
    if (this.expiries.size > 0) this.dropIfExpired(key);
    return this.values.get(key);
  }

  find<T extends ValueType>(key: string, type: T): Stored<T> | undefined {
    const stored = this.lookup(key);
    if (stored === undefined) return undefined;
    if (stored.type !== type) {
      throw new RedisError('WRONGTYPE Operation against a key holding the wrong kind of value');
    }
    return stored as Stored<T>;
  }

  /** The content of a value, for reading only. */
  read<T extends ValueType>(key: string, type: T): Contents[T] | undefined {
    return this.find(key, type)?.content;
  }

  /**
   * The content of a value, for writing. For a missing key it is empty, and the caller must add
   * something.
   */
  own<T extends ValueType>(key: string, type: T, found?: Stored<T>): Contents[T] {
    const stored = found ?? this.find(key, type);
    if (stored === undefined) return this.put(key, type, EMPTY[type]());
    if (stored.owner !== this.epoch) return this.put(key, type, COPY[type](stored.content));
    stored.print = undefined;
    return stored.content;
  }

  /** Replaces the value; the expiry of the key is kept. */
  put<T extends ValueType>(key: string, type: T, content: Contents[T]): Contents[T] {
    this.values.set(key, { type, content, owner: this.epoch, print: undefined });
    return content;
  }

  /** Removes members, and the key if it becomes empty. Returns the number of removed members. */
  removeMembers(key: string, type: 'hash' | 'set' | 'zset', members: readonly string[]): number {
    const stored = this.find(key, type);
    if (!members.some((member) => stored?.content.has(member))) return 0;
    const content = this.own(key, type, stored);
    const removed = members.filter((member) => content.delete(member)).length;
    if (content.size === 0) this.remove(key);
    return removed;
  }

  remove(key: string): boolean {
    if (this.expiries.size > 0) this.expiries.delete(key);
    return this.values.delete(key);
  }

  /** Moves a value with its expiry, replacing the value at the target. */
  rename(from: string, to: string, stored: Stored): void {
    const expiry = this.expiries.get(from);
    this.remove(to);
    this.remove(from);
    this.values.set(to, stored);
    if (expiry !== undefined) this.expiries.set(to, expiry);
  }

  /** Expiry of an existing key, milliseconds since the epoch. */
  expiryOf(key: string): number | undefined {
    return this.expiries.get(key);
  }

  setExpiry(key: string, at: number): void {
    this.expiries.set(key, at);
    this.dropSomeExpired();
  }

  dropExpiry(key: string): boolean {
    return this.expiries.delete(key);
  }

  size(): number {
    this.dropExpired();
    return this.values.size;
  }

  /** Everything that has not expired, ordered by key. */
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

  /** Frees what is never read again: each new expiry looks at two keys, in turn. */
  private dropSomeExpired(): void {
    const [first, second] = this.expiries;
    for (const [key, expiry] of [first, second].filter((each) => each !== undefined)) {
      this.dropIfExpired(key);
      // Behind the others, for the next round.
      if (this.expiries.delete(key)) this.expiries.set(key, expiry);
    }
  }

  private dropExpired(): void {
    for (const key of [...this.expiries.keys()]) this.dropIfExpired(key);
  }
}

/** A reply in the form of a Redis client. */
export type Reply = string | number | null | Reply[];

/** An in-process stand-in for Redis, limited to the commands and forms that the store uses. */
export interface Keyspace {
  call: (command: string, ...args: (string | number)[]) => Reply;
}

export interface KeyspaceOptions {
  /** ms since the epoch. */
  now: () => number;
  publish?: (channel: string, message: string) => void;
}

interface Stream {
  entries: { id: number; fields: readonly string[] }[];
  /** The highest id ever added, kept when entries are removed. */
  last: number;
}

type Scored = readonly [member: string, score: number];

/** Values by key, with their expiries. A collection without members is removed. */
class Data {
  private readonly options: KeyspaceOptions;
  private readonly values = new Map<string, unknown>();
  private readonly expiries = new Map<string, number>();

  constructor(options: KeyspaceOptions) {
    this.options = options;
  }

  now(): number {
    return Math.floor(this.options.now());
  }

  publish(channel: string, message: string): void {
    this.options.publish?.(channel, message);
  }

  has(key: string): boolean {
    this.dropIfExpired(key);
    return this.values.has(key);
  }

  hash(key: string): Map<string, string> | undefined {
    return this.read(key) as Map<string, string> | undefined;
  }

  list(key: string): string[] | undefined {
    return this.read(key) as string[] | undefined;
  }

  scores(key: string): Map<string, number> | undefined {
    return this.read(key) as Map<string, number> | undefined;
  }

  stream(key: string): Stream | undefined {
    return this.read(key) as Stream | undefined;
  }

  put<Value>(key: string, value: Value): Value {
    this.values.set(key, value);
    return value;
  }

  removeMembers(key: string, members: readonly string[]): number {
    const found = this.read(key) as Map<string, unknown> | undefined;
    if (found === undefined) return 0;
    const removed = members.filter((member) => found.delete(member)).length;
    if (found.size === 0) this.remove(key);
    return removed;
  }

  remove(key: string): boolean {
    this.expiries.delete(key);
    return this.values.delete(key);
  }

  expiry(key: string): number | undefined {
    return this.expiries.get(key);
  }

  expire(key: string, at: number): void {
    this.expiries.set(key, at);
    // Frees keys that are never read again: each new expiry checks the two oldest, in turn.
    for (const [old, expiry] of [...this.expiries].slice(0, 2)) {
      this.dropIfExpired(old);
      if (this.expiries.delete(old)) this.expiries.set(old, expiry);
    }
  }

  persist(key: string): boolean {
    return this.expiries.delete(key);
  }

  /** Drops expired keys. @returns number of remaining keys */
  sweep(): number {
    for (const key of [...this.expiries.keys()]) this.dropIfExpired(key);
    return this.values.size;
  }

  private read(key: string): unknown {
    this.dropIfExpired(key);
    return this.values.get(key);
  }

  private dropIfExpired(key: string): void {
    const expiry = this.expiries.get(key);
    if (expiry !== undefined && this.now() > expiry) this.remove(key);
  }
}

type Command = (data: Data, key: string, args: readonly string[]) => Reply;

const HASHES: Record<string, Command> = {
  HGET: (data, key, [field = '']) => data.hash(key)?.get(field) ?? null,
  HMGET: (data, key, fields) => fields.map((field) => data.hash(key)?.get(field) ?? null),
  HGETALL: (data, key) => [...(data.hash(key) ?? [])].flat(),
  HKEYS: (data, key) => [...(data.hash(key)?.keys() ?? [])],
  HVALS: (data, key) => [...(data.hash(key)?.values() ?? [])],
  HSET: (data, key, args) => {
    const fields = data.hash(key) ?? data.put(key, new Map<string, string>());
    const before = fields.size;
    for (let at = 0; at < args.length; at += 2) fields.set(args[at] ?? '', args[at + 1] ?? '');
    return fields.size - before;
  },
  HSETNX: (data, key, [field = '', value = '']) => {
    const fields = data.hash(key) ?? data.put(key, new Map<string, string>());
    if (fields.has(field)) return 0;
    fields.set(field, value);
    return 1;
  },
  HINCRBY: (data, key, [field = '', by]) => {
    const fields = data.hash(key) ?? data.put(key, new Map<string, string>());
    const sum = Number(fields.get(field) ?? 0) + Number(by);
    fields.set(field, String(sum));
    return sum;
  },
  HDEL: (data, key, fields) => data.removeMembers(key, fields),
};

const LISTS: Record<string, Command> = {
  LLEN: (data, key) => data.list(key)?.length ?? 0,
  LRANGE: (data, key, [first, last]) => slice(data.list(key) ?? [], first, last),
  LTRIM: (data, key, [first, last]) => {
    const kept = slice(data.list(key) ?? [], first, last);
    if (kept.length === 0) data.remove(key);
    else data.put(key, kept);
    return 'OK';
  },
  RPUSH: (data, key, added) => {
    const list = data.list(key) ?? data.put<string[]>(key, []);
    for (const element of added) list.push(element);
    return list.length;
  },
  /** Removes the first equal element. */
  LREM: (data, key, [, element = '']) => {
    const list = data.list(key) ?? [];
    const place = list.indexOf(element);
    if (place < 0) return 0;
    list.splice(place, 1);
    if (list.length === 0) data.remove(key);
    return 1;
  },
};

/** Returns the elements between two positions, both included. Negative ones count from the end. */
function slice(
  list: readonly string[],
  first: string | undefined,
  last: string | undefined,
): string[] {
  const stop = Number(last);
  return list.slice(Number(first), Math.max(0, stop < 0 ? list.length + stop + 1 : stop + 1));
}

const SORTED_SETS: Record<string, Command> = {
  ZSCORE: (data, key, [member = '']) => {
    const score = data.scores(key)?.get(member);
    return score === undefined ? null : String(score);
  },
  ZCARD: (data, key) => data.scores(key)?.size ?? 0,
  ZADD: (data, key, args) => {
    const condition = ['NX', 'XX'].find((each) => each === args[0]);
    const scores = data.scores(key) ?? new Map<string, number>();
    const before = scores.size;
    for (let at = condition === undefined ? 0 : 1; at < args.length; at += 2) {
      const [score, member = ''] = [toNumber(args[at]), args[at + 1]];
      const from = scores.get(member);
      const isMeant = condition === undefined || (condition === 'NX') === (from === undefined);
      if (isMeant) scores.set(member, score);
    }
    if (scores.size > 0) data.put(key, scores);
    return scores.size - before;
  },
  ZREM: (data, key, members) => data.removeMembers(key, members),
  ZRANGEBYSCORE: (data, key, [min, max, ...options]) => {
    const isScored = options.includes('WITHSCORES');
    const limit = options.indexOf('LIMIT');
    const [from, count] = limit < 0 ? [0, -1] : options.slice(limit + 1, limit + 3).map(Number);
    const start = from ?? 0;
    const end = count === undefined || count < 0 ? undefined : start + count;
    const page = between(data, key, min, max).slice(start, end);
    return page.flatMap(([member, score]) => (isScored ? [member, String(score)] : [member]));
  },
  ZREMRANGEBYSCORE: (data, key, [min, max]) =>
    data.removeMembers(
      key,
      between(data, key, min, max).map(([member]) => member),
    ),
};

/** @throws Error for what Redis takes there and the store does not use */
function toNumber(text?: string): number {
  const number = Number(text?.replace('inf', 'Infinity'));
  if (Number.isNaN(number)) throw new Error(`a command in memory does not take ${String(text)}`);
  return number;
}

/** Returns members with scores between two bounds, both included, by score, then name. */
function between(data: Data, key: string, min = '-inf', max = '+inf'): Scored[] {
  const [least, most] = [toNumber(min), toNumber(max)];
  const found = [...(data.scores(key) ?? [])].filter(
    ([, score]) => score >= least && score <= most,
  );
  return found.sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one - other));
}

const STREAMS: Record<string, Command> = {
  XLEN: (data, key) => data.stream(key)?.entries.length ?? 0,
  XADD: (data, key, [id = '', ...fields]) => {
    const stream = data.stream(key) ?? data.put<Stream>(key, { entries: [], last: 0 });
    const sequence = Number.parseInt(id, 10);
    if (sequence <= stream.last)
      throw new Error('the id of an entry is equal or smaller than the last one');
    stream.entries.push({ id: sequence, fields });
    stream.last = sequence;
    return id;
  },
  XRANGE: (data, key, [from, to, , count]) => {
    const { entries, first, end } = rangeOf(data, key, from, to);
    return entries.slice(first, Math.min(end, first + toCount(count))).map(toEntry);
  },
  XREVRANGE: (data, key, [to, from, , count]) => {
    const { entries, first, end } = rangeOf(data, key, from, to);
    return entries
      .slice(Math.max(first, end - toCount(count)), end)
      .reverse()
      .map(toEntry);
  },
  XDEL: (data, key, ids) => {
    const stream = data.stream(key);
    if (stream === undefined) return 0;
    const gone = new Set(ids.map((id) => Number.parseInt(id, 10)));
    const before = stream.entries.length;
    stream.entries = stream.entries.filter(({ id }) => !gone.has(id));
    return before - stream.entries.length;
  },
  /** Removes entries below an id. */
  XTRIM: (data, key, [, id = '']) => {
    const stream = data.stream(key);
    if (stream === undefined) return 0;
    const count = placeOf(stream.entries, Number.parseInt(id, 10));
    stream.entries.splice(0, count);
    return count;
  },
};

function toEntry({ id, fields }: Stream['entries'][number]): Reply {
  return [`${String(id)}-0`, [...fields]];
}

function toCount(count: string | undefined): number {
  return count === undefined ? Infinity : Number(count);
}

function rangeOf(
  data: Data,
  key: string,
  from = '-',
  to = '+',
): { entries: Stream['entries']; first: number; end: number } {
  const entries = data.stream(key)?.entries ?? [];
  const edge = (text: string): number => Number.parseInt(text.replace('(', ''), 10);
  const first = from === '-' ? 0 : placeOf(entries, edge(from) + (from.startsWith('(') ? 1 : 0));
  const end =
    to === '+' ? entries.length : placeOf(entries, edge(to) + (to.startsWith('(') ? 0 : 1));
  return { entries, first, end };
}

/** Returns the index of the first entry whose id is not lower. */
function placeOf(entries: Stream['entries'], id: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.id ?? 0) >= id) high = middle;
    else low = middle + 1;
  }
  return low;
}

const KEYS: Record<string, Command> = {
  /** With `PX`, optionally followed by `NX`. */
  SET: (data, key, [value = '', , ms, condition]) => {
    if (condition === 'NX' && data.has(key)) return null;
    data.put(key, value);
    data.expire(key, data.now() + toNumber(ms));
    return 'OK';
  },
  UNLINK: (data, key) => (data.has(key) && data.remove(key) ? 1 : 0),
  PEXPIRE: (data, key, [ms]) => {
    if (!data.has(key)) return 0;
    data.expire(key, data.now() + Number(ms));
    return 1;
  },
  PERSIST: (data, key) => (data.has(key) && data.persist(key) ? 1 : 0),
  PTTL: (data, key) => {
    if (!data.has(key)) return -2;
    const at = data.expiry(key);
    return at === undefined ? -1 : Math.max(0, at - data.now());
  },
  SPUBLISH: (data, channel, [message = '']) => {
    data.publish(channel, message);
    return 0;
  },
  TIME: (data) => {
    const now = data.now();
    return [String(Math.floor(now / 1000)), String((now % 1000) * 1000)];
  },
  DBSIZE: (data) => data.sweep(),
};

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [HASHES, LISTS, SORTED_SETS, STREAMS, KEYS].flatMap((table) => Object.entries(table)),
);

export function createKeyspace(options: KeyspaceOptions): Keyspace {
  const data = new Data(options);
  return {
    call: (name, key = '', ...args) => {
      const command = COMMANDS.get(name);
      if (command === undefined) throw new Error(`the store in memory has no command ${name}`);
      return command(data, String(key), args.map(String));
    },
  };
}

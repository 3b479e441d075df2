/** A reply in the form of a Redis client. */
export type Reply = string | number | null | Reply[];

/** An in-process stand-in for Redis, limited to the commands and forms that the store uses. */
export interface Keyspace {
  call: (command: string, ...args: (string | number)[]) => Reply;
}

interface KeyspaceOptions {
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
  readonly options: KeyspaceOptions;
  private readonly values = new Map<string, unknown>();
  private readonly expiries = new Map<string, number>();

  constructor(options: KeyspaceOptions) {
    this.options = options;
  }

  now(): number {
    return Math.floor(this.options.now());
  }

  has(key: string): boolean {
    return this.read(key) !== undefined;
  }

  hash(key: string): Map<string, string> {
    return (this.read(key) as Map<string, string> | undefined) ?? new Map<string, string>();
  }

  list(key: string): string[] {
    return (this.read(key) as string[] | undefined) ?? [];
  }

  scores(key: string): Map<string, number> {
    return (this.read(key) as Map<string, number> | undefined) ?? new Map<string, number>();
  }

  stream(key: string): Stream {
    return (this.read(key) as Stream | undefined) ?? { entries: [], last: 0 };
  }

  put(key: string, value: unknown): void {
    this.values.set(key, value);
  }

  removeMembers(key: string, members: readonly string[]): number {
    const found = this.hash(key);
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
  HGET: (data, key, [field = '']) => data.hash(key).get(field) ?? null,
  HMGET: (data, key, fields) => fields.map((field) => data.hash(key).get(field) ?? null),
  HGETALL: (data, key) => [...data.hash(key)].flat(),
  HKEYS: (data, key) => [...data.hash(key).keys()],
  HVALS: (data, key) => [...data.hash(key).values()],
  HSET: (data, key, args) => {
    const fields = data.hash(key);
    const before = fields.size;
    for (let at = 0; at < args.length; at += 2) fields.set(args[at] ?? '', args[at + 1] ?? '');
    data.put(key, fields);
    return fields.size - before;
  },
  HSETNX: (data, key, [field = '', value = '']) =>
    data.hash(key).has(field) ? 0 : call(data, 'HSET', key, field, value),
  HINCRBY: (data, key, [field = '', by]) => {
    const sum = Number(data.hash(key).get(field) ?? 0) + Number(by);
    call(data, 'HSET', key, field, String(sum));
    return sum;
  },
  HDEL: (data, key, fields) => data.removeMembers(key, fields),
};

const LISTS: Record<string, Command> = {
  LLEN: (data, key) => data.list(key).length,
  LRANGE: (data, key, [first, last]) => slice(data.list(key), first, last),
  LTRIM: (data, key, [first, last]) => {
    const kept = slice(data.list(key), first, last);
    if (kept.length === 0) data.remove(key);
    else data.put(key, kept);
    return 'OK';
  },
  RPUSH: (data, key, added) => {
    const list = data.list(key);
    for (const element of added) list.push(element);
    data.put(key, list);
    return list.length;
  },
  /** Removes the first equal element. */
  LREM: (data, key, [, element = '']) => {
    const list = data.list(key);
    const place = list.indexOf(element);
    if (place < 0) return 0;
    list.splice(place, 1);
    if (list.length === 0) data.remove(key);
    return 1;
  },
};

/** Returns the elements between two positions, both included. Negative ones count from the end. */
function slice(list: readonly string[], first?: string, last?: string): string[] {
  const stop = Number(last);
  return list.slice(Number(first), Math.max(0, stop < 0 ? list.length + stop + 1 : stop + 1));
}

const SORTED_SETS: Record<string, Command> = {
  ZSCORE: (data, key, [member = '']) => {
    const score = data.scores(key).get(member);
    return score === undefined ? null : String(score);
  },
  ZCARD: (data, key) => data.scores(key).size,
  ZADD: (data, key, args) => {
    const condition = ['NX', 'XX'].find((each) => each === args[0]);
    const scores = data.scores(key);
    const before = scores.size;
    for (let at = condition === undefined ? 0 : 1; at < args.length; at += 2) {
      const [score, member = ''] = [toNumber(args[at]), args[at + 1]];
      const isMeant = condition === undefined || (condition === 'XX') === scores.has(member);
      if (isMeant) scores.set(member, score);
    }
    if (scores.size > 0) data.put(key, scores);
    return scores.size - before;
  },
  ZREM: (data, key, members) => data.removeMembers(key, members),
  ZRANGEBYSCORE: (data, key, [min, max, ...options]) => {
    const isScored = options.includes('WITHSCORES');
    const limit = options.indexOf('LIMIT');
    const [from = 0, count = Infinity] =
      limit < 0 ? [] : options.slice(limit + 1, limit + 3).map(Number);
    const page = between(data, key, min, max).slice(from, from + count);
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
  const found = [...data.scores(key)].filter(([, score]) => score >= least && score <= most);
  return found.sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one - other));
}

const STREAMS: Record<string, Command> = {
  XLEN: (data, key) => data.stream(key).entries.length,
  XADD: (data, key, [id = '', ...fields]) => {
    const stream = data.stream(key);
    const sequence = Number.parseInt(id, 10);
    if (sequence <= stream.last)
      throw new Error('the id of an entry is equal or smaller than the last one');
    stream.entries.push({ id: sequence, fields });
    stream.last = sequence;
    data.put(key, stream);
    return id;
  },
  XRANGE: (data, key, [from, to, , count]) => {
    const { entries, first, end } = rangeOf(data, key, from, to);
    return entries.slice(first, Math.min(end, first + Number(count ?? Infinity))).map(toEntry);
  },
  XREVRANGE: (data, key, [to, from, , count]) => {
    const { entries, first, end } = rangeOf(data, key, from, to);
    return entries
      .slice(Math.max(first, end - Number(count ?? Infinity)), end)
      .reverse()
      .map(toEntry);
  },
  XDEL: (data, key, ids) => {
    const stream = data.stream(key);
    const gone = new Set(ids.map((id) => Number.parseInt(id, 10)));
    const before = stream.entries.length;
    stream.entries = stream.entries.filter(({ id }) => !gone.has(id));
    return before - stream.entries.length;
  },
  /** Removes entries below an id. */
  XTRIM: (data, key, [, id = '']) => {
    const { entries } = data.stream(key);
    return entries.splice(0, placeOf(entries, Number.parseInt(id, 10))).length;
  },
};

function toEntry({ id, fields }: Stream['entries'][number]): Reply {
  return [`${String(id)}-0`, [...fields]];
}

function rangeOf(data: Data, key: string, from = '-', to = '+') {
  const { entries } = data.stream(key);
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
  UNLINK: (data, key) => Number(data.has(key) && data.remove(key)),
  PEXPIRE: (data, key, [ms]) => {
    if (!data.has(key)) return 0;
    data.expire(key, data.now() + Number(ms));
    return 1;
  },
  PERSIST: (data, key) => Number(data.has(key) && data.persist(key)),
  PTTL: (data, key) => {
    if (!data.has(key)) return -2;
    const at = data.expiry(key);
    return at === undefined ? -1 : Math.max(0, at - data.now());
  },
  SPUBLISH: ({ options }, channel, [message = '']) => {
    options.publish?.(channel, message);
    return 0;
  },
  TIME: (data) => {
    const now = data.now();
    return [String(Math.floor(now / 1000)), String((now % 1000) * 1000)];
  },
  DBSIZE: (data) => data.sweep(),
};

const COMMANDS: Record<string, Command | undefined> = {
  ...HASHES,
  ...LISTS,
  ...SORTED_SETS,
  ...STREAMS,
  ...KEYS,
};

function call(data: Data, name: string, key: string, ...args: string[]): Reply {
  const command = COMMANDS[name];
  if (command === undefined) throw new Error(`the store in memory has no command ${name}`);
  return command(data, key, args);
}

export function createKeyspace(options: KeyspaceOptions): Keyspace {
  const data = new Data(options);
  // Redis receives UTF-8, which cannot encode lone surrogates.
  const toText = (word: string | number): string => String(word).toWellFormed();
  return { call: (name, key = '', ...args) => call(data, name, toText(key), ...args.map(toText)) };
}

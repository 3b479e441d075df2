/** A reply in the form of a Redis client. */
export type Reply = string | number | null | Reply[];

/** An in-process stand-in for Redis, limited to the commands and forms that the store uses. */
export interface Keyspace {
  call: (command: string, ...args: (string | number)[]) => Reply;
}

interface Stream {
  entries: { id: number; fields: readonly string[] }[];
  /** The highest id ever added, kept when entries are removed. */
  last: number;
}

type Value = string | string[] | Map<string, string | number> | Stream;

/** A value, and the time at which it expires. */
interface Held {
  value: Value;
  until: number;
}

type Args = readonly string[];
/** Commands on one kind of value, which is empty if the key is missing. */
type Commands<Of> = Record<string, (value: Of, args: Args) => Reply>;

const HASHES: Commands<Map<string, string>> = {
  HGET: (hash, [field = '']) => hash.get(field) ?? null,
  HMGET: (hash, fields) => fields.map((field) => hash.get(field) ?? null),
  HGETALL: (hash) => [...hash].flat(),
  HKEYS: (hash) => [...hash.keys()],
  HVALS: (hash) => [...hash.values()],
  HSET: (hash, args) => {
    const before = hash.size;
    for (let at = 0; at < args.length; at += 2) hash.set(args[at] ?? '', args[at + 1] ?? '');
    return hash.size - before;
  },
  HSETNX: (hash, [field = '', value = '']) => {
    if (hash.has(field)) return 0;
    hash.set(field, value);
    return 1;
  },
  HINCRBY: (hash, [field = '', by]) => {
    const sum = Number(hash.get(field) ?? 0) + Number(by);
    hash.set(field, String(sum));
    return sum;
  },
  HDEL: removeFrom,
};

function removeFrom(members: Map<string, unknown>, removed: Args): number {
  return removed.filter((member) => members.delete(member)).length;
}

const LISTS: Commands<string[]> = {
  LLEN: (list) => list.length,
  LRANGE: (list, range) => slice(list, range),
  LTRIM: (list, range) => {
    const kept = slice(list, range);
    list.length = 0;
    for (const element of kept) list.push(element);
    return 'OK';
  },
  RPUSH: (list, added) => {
    for (const element of added) list.push(element);
    return list.length;
  },
  /** Removes the first equal element. */
  LREM: (list, [, element = '']) => {
    const place = list.indexOf(element);
    return place < 0 ? 0 : list.splice(place, 1).length;
  },
};

/** Returns the elements between two positions, both included. Negative ones count from the end. */
function slice(list: Args, [first, last]: Args): string[] {
  const stop = Number(last);
  return list.slice(Number(first), Math.max(0, stop < 0 ? list.length + stop + 1 : stop + 1));
}

type Scores = Map<string, number>;

const SORTED_SETS: Commands<Scores> = {
  ZSCORE: (scores, [member = '']) => {
    const score = scores.get(member);
    return score === undefined ? null : String(score);
  },
  ZCARD: (scores) => scores.size,
  ZADD: (scores, args) => {
    const condition = ['NX', 'XX'].find((each) => each === args[0]);
    const before = scores.size;
    for (let at = condition === undefined ? 0 : 1; at < args.length; at += 2) {
      const [score, member = ''] = [toNumber(args[at]), args[at + 1]];
      const isMeant = condition === undefined || (condition === 'XX') === scores.has(member);
      if (isMeant) scores.set(member, score);
    }
    return scores.size - before;
  },
  ZREM: removeFrom,
  ZRANGEBYSCORE: (scores, [min, max, ...options]) => {
    const isScored = options.includes('WITHSCORES');
    const limit = options.indexOf('LIMIT');
    const [from = 0, count = Infinity] =
      limit < 0 ? [] : options.slice(limit + 1, limit + 3).map(Number);
    const page = between(scores, min, max).slice(from, from + count);
    return page.flatMap(([member, score]) => (isScored ? [member, String(score)] : [member]));
  },
  ZREMRANGEBYSCORE: (scores, [min, max]) =>
    removeFrom(
      scores,
      between(scores, min, max).map(([member]) => member),
    ),
};

/** @throws Error for what Redis takes there and the store does not use */
function toNumber(text?: string): number {
  const number = Number(text?.replace('inf', 'Infinity'));
  if (Number.isNaN(number)) throw new Error(`a command in memory does not take ${String(text)}`);
  return number;
}

/** Returns members with scores between two bounds, both included, by score, then name. */
function between(scores: Scores, min?: string, max?: string): [member: string, score: number][] {
  const [least, most] = [toNumber(min), toNumber(max)];
  const found = [...scores].filter(([, score]) => score >= least && score <= most);
  return found.sort(([a, one], [b, other]) => (one === other ? (a < b ? -1 : 1) : one - other));
}

const STREAMS: Commands<Stream> = {
  XLEN: ({ entries }) => entries.length,
  XADD: (stream, [id = '', ...fields]) => {
    const sequence = Number.parseInt(id, 10);
    if (sequence <= stream.last)
      throw new Error('the id of an entry is equal or smaller than the last one');
    stream.entries.push({ id: sequence, fields });
    stream.last = sequence;
    return id;
  },
  XRANGE: ({ entries }, [from, to, , count]) => {
    const [first, end] = rangeOf(entries, from, to);
    return entries.slice(first, Math.min(end, first + Number(count ?? Infinity))).map(toEntry);
  },
  XREVRANGE: ({ entries }, [to, from, , count]) => {
    const [first, end] = rangeOf(entries, from, to);
    const newest = entries.slice(Math.max(first, end - Number(count ?? Infinity)), end);
    return newest.reverse().map(toEntry);
  },
  XDEL: (stream, ids) => {
    const gone = new Set(ids.map((id) => Number.parseInt(id, 10)));
    const before = stream.entries.length;
    stream.entries = stream.entries.filter(({ id }) => !gone.has(id));
    return before - stream.entries.length;
  },
  /** Removes entries below an id. */
  XTRIM: ({ entries }, [, id = '']) =>
    entries.splice(0, placeOf(entries, Number.parseInt(id, 10))).length,
};

function toEntry({ id, fields }: Stream['entries'][number]): Reply {
  return [`${String(id)}-0`, [...fields]];
}

function rangeOf(entries: Stream['entries'], from = '-', to = '+'): [first: number, end: number] {
  const edge = (text: string): number => Number.parseInt(text.replace('(', ''), 10);
  return [
    from === '-' ? 0 : placeOf(entries, edge(from) + (from.startsWith('(') ? 1 : 0)),
    to === '+' ? entries.length : placeOf(entries, edge(to) + (to.startsWith('(') ? 0 : 1)),
  ];
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

/** Makes the value of a missing key, by the commands that take it. */
const KINDS = [
  [HASHES, () => new Map()],
  [LISTS, () => []],
  [SORTED_SETS, () => new Map()],
  [STREAMS, () => ({ entries: [], last: 0 })],
] as unknown as [Commands<Value>, () => Value][];

/** Returns true for a value that Redis removes with its key; an emptied stream stays. */
function isEmpty(value: Value): boolean {
  if (value instanceof Map) return value.size === 0;
  return typeof value === 'object' && 'last' in value ? value.last === 0 : value.length === 0;
}

export function createKeyspace({
  now: clock,
  publish,
}: {
  now: () => number;
  publish?: (channel: string, message: string) => void;
}): Keyspace {
  const all = new Map<string, Held>();
  const now = (): number => Math.floor(clock());
  // Redis receives UTF-8, which cannot encode lone surrogates.
  const toText = (word: string | number): string => String(word).toWellFormed();

  function find(key: string): Held | undefined {
    const found = all.get(key);
    if (found === undefined || now() <= found.until) return found;
    all.delete(key);
    return undefined;
  }

  function expire(key: string, until: number): number {
    const found = find(key);
    if (found !== undefined) found.until = until;
    return Number(found !== undefined);
  }

  const OF_ANY: Record<string, (key: string, args: Args) => Reply> = {
    /** With `PX`, optionally followed by `NX`. */
    SET: (key, [value = '', , ms, condition]) => {
      if (condition === 'NX' && find(key) !== undefined) return null;
      all.set(key, { value, until: now() + toNumber(ms) });
      return 'OK';
    },
    UNLINK: (key) => Number(find(key) !== undefined && all.delete(key)),
    PEXPIRE: (key, [ms]) => expire(key, now() + Number(ms)),
    PERSIST: (key) => expire(key, Infinity),
    PTTL: (key) => {
      const { until } = find(key) ?? {};
      if (until === undefined) return -2;
      return until === Infinity ? -1 : Math.max(0, until - now());
    },
    SPUBLISH: (channel, [message = '']) => {
      publish?.(channel, message);
      return 0;
    },
    TIME: () => [String(Math.floor(now() / 1000)), String((now() % 1000) * 1000)],
    /** Drops expired keys. */
    DBSIZE: () => {
      for (const key of all.keys()) find(key);
      return all.size;
    },
  };

  function call(name: string, key: string, args: Args): Reply {
    const ofAny = OF_ANY[name];
    if (ofAny !== undefined) return ofAny(key, args);
    for (const [commands, make] of KINDS) {
      const command = commands[name];
      if (command === undefined) continue;
      const held = find(key) ?? { value: make(), until: Infinity };
      const reply = command(held.value, args);
      if (isEmpty(held.value)) all.delete(key);
      else all.set(key, held);
      return reply;
    }
    throw new Error(`the store in memory has no command ${name}`);
  }

  return { call: (name, key = '', ...args) => call(name, toText(key), args.map(toText)) };
}

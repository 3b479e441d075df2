import type { Entry, Read, Source, Write } from '../../../../session/fields.js';
import { Tree } from '../../../../session/tree.js';
import { SESSION } from '../plan.js';

/**
 * All stored data of the conversation and its sub-agent. It is immutable; versions share what they
 * have in common.
 */
export interface Data {
  /** Sequence of the newest entry. */
  readonly sequence: number;
  readonly logBytes: number;
  /** Fields by `<part>:<place>`. */
  readonly places: ReadonlyMap<string, Fields>;
  /** Transcripts by part. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  readonly log: readonly Entry[];
  /** Names with an expiry: places, `<part>:rows` and `:log`. */
  readonly expiring: ReadonlySet<string>;
}

export type Fields = ReadonlyMap<string, string>;

/** A write of a change, or the log's sequence and size, which every change stores. */
export type Stored = Write | readonly ['count', sequence: number, logBytes: number];

export const NOTHING: Data = {
  sequence: 0,
  logBytes: 0,
  log: [],
  places: new Map(),
  rows: new Map(),
  expiring: new Set<string>(),
};

/** Retention: the log expires after a day, sessions never. */
export const KEEP = { streamMs: 86_400_000, sessionMs: 0, entries: 0 };

export function fieldsOf({ places }: Data, part: string, place: string): Fields | undefined {
  return places.get(`${part}:${place}`);
}

/** @param now time by the store's clock */
export function treeOf(data: Data, now = 0): Tree {
  const { sequence, logBytes } = data;
  const at = { sequence, numberedAbove: sequence, logBytes };
  const source: Source = { now, ...at, keep: KEEP, ask: (read) => ask(data, read) };
  return new Tree(SESSION, source);
}

export function ask(data: Data, read: Read): unknown {
  const { rows, log } = data;
  switch (read[0]) {
    case 'field':
      return fieldsOf(data, read[2], read[1])?.get(read[3]);
    case 'fields':
      return [...(fieldsOf(data, read[2], read[1]) ?? [])].flat();
    case 'rowCount':
      return rows.get(read[1])?.length;
    case 'rows':
      return rows.get(read[1])?.slice(read[2], read[3] + 1);
    case 'entries':
      return log.filter(([at]) => at > read[1] && at <= read[2]).slice(0, read[3]);
    case 'entryCount':
      return log.length;
  }
}

const KEPT = ['record', 'writers', 'index', 'content', 'runs', 'children', 'rows'];
const SHARED = ['results', 'files'];

/** Returns the data after some writes. */
export function apply(before: Data, writes: readonly Stored[]): Data {
  const places = new Map(before.places);
  const rows = new Map(before.rows);
  const expiring = new Set(before.expiring);
  const copies = new Map<string, Map<string, string>>();
  let { sequence, logBytes, log } = before;

  function open(at: string): Map<string, string> {
    const copy = copies.get(at) ?? new Map(places.get(at));
    copies.set(at, copy);
    places.set(at, copy);
    return copy;
  }

  function drop(at: string): void {
    places.delete(at);
    copies.delete(at);
    expiring.delete(at);
  }

  for (const write of writes) {
    switch (write[0]) {
      case 'count':
        [, sequence, logBytes] = write;
        break;
      case 'set': {
        const fields = open(`${write[2]}:${write[1]}`);
        const [, , , ...pairs] = write;
        for (let at = 0; at < pairs.length; at += 2)
          fields.set(pairs[at] ?? '', pairs[at + 1] ?? '');
        break;
      }
      case 'unset': {
        const at = `${write[2]}:${write[1]}`;
        const fields = open(at);
        for (const name of write.slice(3)) fields.delete(name);
        if (fields.size === 0) drop(at);
        break;
      }
      case 'drop':
        drop(`${write[2]}:${write[1]}`);
        break;
      case 'push':
        // No change reads the other lists in the model.
        if (write[1] === 'rows')
          rows.set(write[2], [...(rows.get(write[2]) ?? []), ...write.slice(3)]);
        break;
      case 'trim':
        rows.set(write[1], rows.get(write[1])?.slice(0, write[2]) ?? []);
        break;
      case 'add':
        log = [...log, [write[1], write[2], write[3]]];
        break;
      case 'remove': {
        const gone = new Set<unknown>(write.slice(1));
        log = log.filter(([at]) => !gone.has(at));
        break;
      }
      case 'trimLog':
        log = log.filter(([at]) => at >= write[1]);
        break;
      case 'expire': {
        const [, what, part, ms] = write;
        const names = {
          session: part === '' ? [...KEPT, ...SHARED] : KEPT,
          log: ['log'],
          files: [],
        };
        for (const name of names[what]) {
          const at = `${part}:${name}`;
          const isThere = { rows: rows.has(part), log: sequence + log.length > 0 }[name];
          if (ms !== undefined && (isThere ?? places.has(at))) expiring.add(at);
          else expiring.delete(at);
        }
        break;
      }
      // No change reads these in the model.
      case 'page':
      case 'stop':
        break;
    }
  }
  return { sequence, logBytes, places, rows, log, expiring };
}

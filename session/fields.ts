/** The places that hold a session's data by name. */
export type Place =
  | ('record' | 'writers' | 'index' | 'content' | 'runs' | 'children' | 'results')
  | ('files' | 'fileBytes' | 'elsewhere');
type List = 'rows' | 'outbox' | 'erasures';

/** One read of a conversation. All reads of a load see the same version. */
export type Read =
  | readonly ['field', Place, part: string, name: string]
  | readonly ['fields', Place, part: string]
  | readonly ['rowCount', part: string]
  | readonly ['rows', part: string, from: number, to: number]
  | readonly ['entries', after: number, upTo: number, most: number]
  | readonly ['entryCount'];

/**
 * A read that a store may do before the change asks. `calls` gives the calls of the newest step, if they are few, with
 * these contents of each; `newRows` the number of rows, and those from an index on, if they are few; `state` the current
 * version of the agent's own state.
 */
export type Want =
  | Read
  | readonly ['calls', part: string, ...contents: string[]]
  | readonly ['newRows', part: string, from: number, most: number]
  | readonly ['state', part: string];

/** One write. A commit stores all writes of a change, or none. */
export type Write =
  | readonly ['set', Place, part: string, ...pairs: string[]]
  | readonly ['unset', Place, part: string, ...names: string[]]
  | readonly ['drop', Place | List | 'log' | 'pages', part: string]
  | readonly ['push', List, part: string, ...texts: string[]]
  | readonly ['trim', part: string, rows: number]
  | readonly ['add', sequence: number, writer: string, message: string]
  | readonly ['remove', ...sequences: number[]]
  | readonly ['trimLog', before: number]
  | readonly ['page', from: number, upTo: number, entries: string]
  | readonly ['stop', runId: string]
  /** Without a time, they no longer expire. */
  | readonly ['expire', 'session' | 'log' | 'files', part: string, ms?: number];

export type Entry = readonly [sequence: number, writer: string, message: string];

/** Retention of ended streams and sessions, ms, and the log entries above which old turns are trimmed. 0: no limit. */
export interface Keep {
  streamMs: number;
  sessionMs: number;
  entries: number;
}

/** A store's answers to a change. Undefined means not read yet; the change is decided again once it is. */
export interface Source {
  ask: (read: Read) => unknown;
  /** Time by the store's clock, ms since the epoch. */
  now: number;
  /** End of the stored log. */
  sequence: number;
  /** New entries are numbered above this sequence. */
  numberedAbove: number;
  logBytes: number;
  keep: Keep;
}

export class Fields {
  private readonly source: Source;
  private readonly place: Place;
  private readonly part: string;
  private readonly changed = new Map<string, string | null>();
  private isDropped = false;

  constructor(source: Source, place: Place, part: string) {
    this.source = source;
    this.place = place;
    this.part = part;
  }

  get(name: string): string | undefined {
    const changed = this.changed.get(name);
    if (changed !== undefined) return changed ?? undefined;
    if (this.isDropped) return undefined;
    return (
      (this.source.ask(['field', this.place, this.part, name]) as string | null | undefined) ??
      undefined
    );
  }

  all(): Map<string, string> {
    const found = this.isDropped
      ? []
      : ((this.source.ask(['fields', this.place, this.part]) ?? []) as string[]);
    const all = new Map<string, string>();
    for (let at = 0; at < found.length; at += 2) all.set(found[at] ?? '', found[at + 1] ?? '');
    for (const [name, text] of this.changed) {
      if (text === null) all.delete(name);
      else all.set(name, text);
    }
    return all;
  }

  set(name: string, text: string): void {
    this.changed.set(name, text);
  }

  unset(...names: string[]): void {
    for (const name of names) this.changed.set(name, null);
  }

  drop(): void {
    this.changed.clear();
    this.isDropped = true;
  }

  writes(): Write[] {
    const [pairs, gone]: [string[], string[]] = [[], []];
    for (const [name, text] of this.changed) {
      if (text !== null) pairs.push(name, text);
      else if (!this.isDropped) gone.push(name);
    }
    const { place, part } = this;
    return [
      ...(this.isDropped ? [['drop', place, part] as const] : []),
      ...(pairs.length > 0 ? [['set', place, part, ...pairs] as const] : []),
      ...(gone.length > 0 ? [['unset', place, part, ...gone] as const] : []),
    ];
  }
}

/** Values of one kind in fields of a place, changed in place by the caller. */
export class Values<Value> {
  private readonly fields: Fields;
  private readonly prefix: string;
  private readonly known = new Map<
    string,
    { before: string | undefined; value: Value | undefined }
  >();

  constructor(fields: Fields, prefix: string) {
    this.fields = fields;
    this.prefix = prefix;
  }

  get(name: string | number): Value | undefined {
    const id = String(name);
    let known = this.known.get(id);
    if (known === undefined) {
      const before = this.fields.get(this.prefix + id);
      known = { before, value: before === undefined ? undefined : (JSON.parse(before) as Value) };
      this.known.set(id, known);
    }
    return known.value;
  }

  /** A value that was not read is written without comparing it with the stored one. */
  set(name: string | number, value: Value | undefined): void {
    const { before } = this.known.get(String(name)) ?? { before: '' };
    this.known.set(String(name), { before, value });
  }

  unset(...names: (string | number)[]): void {
    for (const name of names) this.set(name, undefined);
  }

  flush(): void {
    for (const [id, { before, value }] of this.known) {
      if (value === undefined) {
        if (before !== undefined) this.fields.unset(this.prefix + id);
        continue;
      }
      const after = JSON.stringify(value);
      if (after !== before) this.fields.set(this.prefix + id, after);
    }
  }

  forget(): void {
    this.known.clear();
  }
}

export class Rows {
  private readonly source: Source;
  private readonly part: string;
  private readonly added: string[] = [];
  private kept: number | undefined;

  constructor(source: Source, part: string) {
    this.source = source;
    this.part = part;
  }

  private get stored(): number {
    return this.kept ?? ((this.source.ask(['rowCount', this.part]) ?? 0) as number);
  }

  get count(): number {
    return this.stored + this.added.length;
  }

  at(index: number): string | undefined {
    return index < 0 ? undefined : this.range(index, index)[0];
  }

  /** @param to inclusive */
  range(from: number, to: number): string[] {
    const { stored } = this;
    const last = Math.min(to, stored - 1);
    const found =
      from <= last ? ((this.source.ask(['rows', this.part, from, last]) ?? []) as string[]) : [];
    return [
      ...found,
      ...this.added.slice(Math.max(0, from - stored), Math.max(0, to + 1 - stored)),
    ];
  }

  /** @returns index of the first one */
  push(...rows: string[]): number {
    const first = this.count;
    this.added.push(...rows);
    return first;
  }

  trim(count: number): void {
    const { stored } = this;
    this.kept = Math.min(stored, count);
    this.added.length = Math.min(this.added.length, Math.max(0, count - stored));
  }

  writes(): Write[] {
    return [
      ...(this.kept === undefined ? [] : [['trim', this.part, this.kept] as const]),
      ...(this.added.length > 0 ? [['push', 'rows', this.part, ...this.added] as const] : []),
    ];
  }
}

export class Log {
  /** True once a change has read or set the end of the log. */
  isUsed = false;
  /** True once a change has read anything else that appends write. */
  isRead = false;
  /** Bytes of the log and of everything that expires with it. */
  bytes: number;
  private end: number;
  private readonly source: Source;
  private readonly added: Entry[] = [];
  private readonly others: Write[] = [];
  private readonly removed = new Set<number>();
  private isDropped = false;

  constructor(source: Source) {
    this.source = source;
    this.end = source.numberedAbove;
    this.bytes = source.logBytes;
  }

  get sequence(): number {
    this.isUsed = true;
    return this.end;
  }

  set sequence(sequence: number) {
    this.isUsed = true;
    this.end = sequence;
  }

  /** End of the log as it is stored: a store that was restored from an older copy is behind its readers. */
  get stored(): number {
    return this.source.sequence;
  }

  /** Adds an entry. The store itself writes under the writer name ''. */
  add(message: string, writer = ''): void {
    this.sequence += 1;
    this.added.push([this.sequence, writer, message]);
    this.bytes += byteLength(message);
  }

  after(sequence: number, max: number, upTo = Infinity): Entry[] {
    this.isRead = true;
    const stored = (this.source.ask(['entries', sequence, upTo, max]) ?? []) as Entry[];
    const added = this.added.filter(([at]) => at > sequence && at <= upTo);
    return [...stored.filter(([at]) => !this.removed.has(at)), ...added].slice(0, max);
  }

  get count(): number {
    this.isRead = true;
    return (
      ((this.source.ask(['entryCount']) ?? 0) as number) + this.added.length - this.removed.size
    );
  }

  remove(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    const sequences = entries.map(([sequence]) => sequence);
    for (const sequence of sequences) this.removed.add(sequence);
    this.others.push(['remove', ...sequences], ['drop', 'pages', '']);
    for (const [, , message] of entries) this.bytes -= byteLength(message);
  }

  trim(before: number): void {
    this.others.push(['trimLog', before]);
  }

  drop(): void {
    this.isDropped = true;
  }

  writes(): Write[] {
    return [
      ...(this.isDropped ? [['drop', 'log', ''] as const] : []),
      ...this.added.map((entry) => ['add', ...entry] as const),
      ...this.others,
    ];
  }
}

const encoder = new TextEncoder();

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

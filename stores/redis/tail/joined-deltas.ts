import { isShort } from '../../../store/redis/entries.js';

/** An entry of a Redis Stream. */
export type StreamEntry = [id: string, fields: string[]];

/**
 * The text of a short delta up to its closing quote, and what follows around the time: whole milliseconds
 * only. Those who write into a log, such as a remote agent, may send others, which are parsed.
 */
const PARTS = /^\["(?:[^"\\]|\\.)*("(?:,"(?:[^"\\]|\\.)*"),\d+,)\d{13}(?!,true)([,\]].*)$/s;
const TIME_LENGTH = 13;

/** Deltas of one block, one after the other. */
interface Run {
  first: StreamEntry;
  writer: string;
  /** As each of them has it between its text and its time, */
  before: string;
  /** and after its time. */
  after: string;
  /** What those behind the first add, as it is stored. */
  texts: string[];
  lastId: string;
}

/**
 * A page in which each run of short deltas of one block is one entry in the same form: the texts one
 * after the other, and the id of the last. Joining the texts as they are stored saves parsing most of a
 * replay. Pure.
 */
export function joinShortDeltas(page: readonly StreamEntry[]): StreamEntry[] {
  const joined: StreamEntry[] = [];
  let run: Run | undefined;
  for (const entry of page) {
    const text = run === undefined ? undefined : textIn(run, entry);
    if (run !== undefined && text !== undefined) {
      run.texts.push(text);
      run.lastId = entry[0];
      continue;
    }
    if (run !== undefined) joined.push(toEntry(run));
    run = beginRun(entry);
    if (run === undefined) joined.push(entry);
  }
  if (run !== undefined) joined.push(toEntry(run));
  return joined;
}

/** Undefined for what nothing can be joined to: other entries, and thinking that is complete. */
function beginRun(entry: StreamEntry): Run | undefined {
  const [id, [writer = '', json = '', ...more]] = entry;
  if (more.length > 0 || !isShort(json)) return undefined;
  const [, before, after] = PARTS.exec(json) ?? [];
  if (before === undefined || after === undefined) return undefined;
  return { first: entry, writer, before, after, texts: [], lastId: id };
}

function toEntry({ first, writer, before, after, texts, lastId }: Run): StreamEntry {
  const [, [, json = '']] = first;
  const end = json.length - before.length - TIME_LENGTH - after.length;
  return [lastId, [writer, json.slice(0, end) + texts.join('') + json.slice(end)]];
}

/**
 * The text of a delta of this block, as it is stored. Read from the end: a quote inside a text has a
 * backslash before it, so what looks like the end of the text is its end.
 */
function textIn({ writer, before, after }: Run, [, fields]: StreamEntry): string | undefined {
  const [name, json = ''] = fields;
  if (fields.length !== 2 || name !== writer || !json.endsWith(after)) return undefined;
  const time = json.length - after.length - TIME_LENGTH;
  const end = time - before.length;
  if (end < 2 || !json.startsWith(before, end) || !json.startsWith('["')) return undefined;
  return isNumber(json, time) ? json.slice(2, end) : undefined;
}

function isNumber(json: string, at: number): boolean {
  for (let index = at; index < at + TIME_LENGTH; index += 1) {
    const code = json.charCodeAt(index);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

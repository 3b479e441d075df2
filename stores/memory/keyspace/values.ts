import { formatDouble } from './format.js';
import { copySortedSet, emptySortedSet, type SortedSet } from './sorted-set.js';
import { formatId } from './stream-id.js';
import { copyStream, emptyStream, type Stream } from './stream.js';

/** What is stored under a key, by the type that Redis names. */
export interface Contents {
  string: string;
  list: string[];
  set: Set<string>;
  zset: SortedSet;
  hash: Map<string, string>;
  stream: Stream;
}

export type ValueType = keyof Contents;

type PerType<Result> = { readonly [T in ValueType]: (content: Contents[T]) => Result };

export const EMPTY: { readonly [T in ValueType]: () => Contents[T] } = {
  string: () => '',
  list: () => [],
  set: () => new Set(),
  zset: emptySortedSet,
  hash: () => new Map(),
  stream: emptyStream,
};

/** Copies a value so far that a write to the one is not seen in the other. */
export const COPY: { readonly [T in ValueType]: (content: Contents[T]) => Contents[T] } = {
  string: (text) => text,
  list: (elements) => elements.slice(),
  set: (members) => new Set(members),
  zset: copySortedSet,
  hash: (fields) => new Map(fields),
  stream: copyStream,
};

/** A value as JSON can say it; what has no order of its own is sorted. */
export const PLAIN: PerType<unknown> = {
  string: (text) => text,
  list: (elements) => elements.slice(),
  set: (members) => [...members].sort(),
  zset: ({ order }) => order.map(({ member, score }) => [member, formatDouble(score)]),
  hash: (fields) => [...fields.keys()].sort().map((field) => [field, fields.get(field)]),
  stream: ({ entries, lastId }) => ({
    lastId: formatId(lastId),
    entries: entries.map(({ text, fields }) => [text, fields.slice()]),
  }),
};

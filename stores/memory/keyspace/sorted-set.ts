import { compareBytes } from './text.js';

export interface Ranked {
  readonly member: string;
  readonly score: number;
}

/** Members with scores; `order` has the same sorted by score, equal scores by their bytes. */
export interface SortedSet {
  readonly scores: Map<string, number>;
  readonly order: Ranked[];
}

export function emptySortedSet(): SortedSet {
  return { scores: new Map(), order: [] };
}

export function copySortedSet({ scores, order }: SortedSet): SortedSet {
  return { scores: new Map(scores), order: order.slice() };
}

export function setScore(set: SortedSet, member: string, score: number): void {
  removeMember(set, member);
  // As Redis stores it, -0 is 0.
  const entry = { member, score: score + 0 };
  set.scores.set(member, entry.score);
  set.order.splice(placeOf(set.order, entry), 0, entry);
}

export function removeMember(set: SortedSet, member: string): boolean {
  const score = set.scores.get(member);
  if (score === undefined) return false;
  set.scores.delete(member);
  set.order.splice(placeOf(set.order, { member, score }), 1);
  return true;
}

/** Removes the places from `from` to before `to`. */
export function removePlaces(set: SortedSet, from: number, to: number): number {
  const removed = set.order.splice(from, Math.max(0, to - from));
  for (const { member } of removed) set.scores.delete(member);
  return removed.length;
}

/** The first place whose entry does not come before this one. */
function placeOf(order: readonly Ranked[], entry: Ranked): number {
  return firstPlace(order, (other) => compare(other, entry) >= 0);
}

/** The first place of which this holds; it holds of all places behind that one too. */
export function firstPlace(order: readonly Ranked[], holds: (entry: Ranked) => boolean): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = order[middle];
    if (entry !== undefined && holds(entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function compare(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return a.score < b.score ? -1 : 1;
  return compareBytes(a.member, b.member);
}

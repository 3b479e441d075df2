/**
 * Tallies: how often things happened lately, over all processes, for operators. They are counted
 * after the record has changed and beside it, so they are no part of it: a process that dies may
 * leave a few out.
 */
export interface Tallies {
  /** Adds to counts of now. */
  add: (counts: Readonly<Record<string, number>>) => Promise<void>;
  /**
   * The sums of `withinMs`, at most 25 hours, by name.
   *
   * @param agoMs when that period ended, at most seven days ago. Default: now
   */
  read: (withinMs: number, agoMs?: number) => Promise<Record<string, number>>;
}

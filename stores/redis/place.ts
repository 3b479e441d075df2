import type { LogEntry } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import type { Batch } from './batches.js';
import type { LogPage } from './log-pages.js';

/** How far a follower has come, and what it can tell by it that the log is still the one it read. */
export interface Place {
  /** Where to read on: the entry there comes again and is compared. */
  anchor: () => number;
  /** What is new in a page. @throws HelixError `rewound` */
  takePage: (page: LogPage) => LogEntry[];
  /** Something before this batch was missed. */
  isGapBefore: (batch: Batch) => boolean;
  /** What is new in a batch. */
  takeBatch: (entries: LogEntry[]) => LogEntry[];
}

export function createPlace(fromSequence: number): Place {
  /** Up to here everything is known, entries that were withdrawn included. */
  let known = fromSequence;
  let last: LogEntry | undefined;
  let server: string | undefined;

  function advance(fresh: LogEntry[]): LogEntry[] {
    last = fresh[fresh.length - 1] ?? last;
    known = Math.max(known, last?.sequence ?? 0);
    return fresh;
  }

  /** A log that was restored from a copy is shorter, or has other entries under the same numbers. */
  function refuseRewound(page: LogPage, fresh: LogEntry[]): void {
    if (page.sequence < known) throw rewound();
    if (last === undefined) return;
    const [again] = page.entries;
    if (again?.sequence === last.sequence) {
      if (!isSame(again, last)) throw rewound();
    } else if (server !== undefined && server !== page.server && fresh.length > 0) {
      // On the same server it was withdrawn or trimmed.
      throw rewound();
    }
  }

  return {
    anchor: () => last?.sequence ?? known,
    takePage: (page) => {
      const fresh = page.entries.filter(({ sequence }) => sequence > known);
      refuseRewound(page, fresh);
      const [first] = page.entries;
      if (last === undefined && first?.sequence === known) last = first;
      if (last === undefined || first !== undefined) server = page.server;
      advance(fresh);
      if (!page.isFull) known = Math.max(known, page.sequence);
      return fresh;
    },
    isGapBefore: ({ previous }) => previous > known,
    takeBatch: (entries) => advance(entries.filter(({ sequence }) => sequence > known)),
  };
}

function rewound(): HelixError {
  return new HelixError('rewound', 'The conversation store has become older than what was read.');
}

function isSame(one: LogEntry, other: LogEntry): boolean {
  if (one === other) return true;
  if (one.writer !== other.writer) return false;
  return JSON.stringify(one.message) === JSON.stringify(other.message);
}

import type { LogEntry } from '../../../protocol/chunk.js';
import { HelixError } from '../../../protocol/errors.js';
import type { Batch } from './inbox.js';
import type { LogPage } from './pages.js';

/** A follower's position in a log, and what it needs to detect that the log was rewound. */
export interface Cursor {
  /** Where to continue reading: the entry at this sequence is read again and compared. */
  anchor: () => number;
  /** The new entries of a page. @throws HelixError `rewound` */
  takePage: (page: LogPage) => LogEntry[];
  /** True if entries before this batch were missed. */
  isGapBefore: (batch: Batch) => boolean;
  /** The new entries of a batch. */
  takeBatch: (entries: LogEntry[]) => LogEntry[];
}

export function createCursor(fromSequence: number): Cursor {
  /** Everything up to this sequence is known, including withdrawn entries. */
  let known = fromSequence;
  let last: LogEntry | undefined;
  let server: string | undefined;

  function advance(fresh: LogEntry[]): LogEntry[] {
    last = fresh[fresh.length - 1] ?? last;
    known = Math.max(known, last?.sequence ?? 0);
    return fresh;
  }

  /** A log restored from a backup is shorter, or has other entries under the same numbers. */
  function refuseRewound(page: LogPage, fresh: LogEntry[]): void {
    if (page.sequence < known) throw rewound();
    if (last === undefined) return;
    const [again] = page.entries;
    if (again?.sequence === last.sequence) {
      if (!isSame(again, last)) throw rewound();
    } else if (server !== undefined && server !== page.server && fresh.length > 0) {
      // On the same server the entry was withdrawn or trimmed, which is fine.
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
  return new HelixError('rewound', 'The conversation store is older than what was already read.');
}

function isSame(one: LogEntry, other: LogEntry): boolean {
  if (one === other) return true;
  if (one.writer !== other.writer) return false;
  return JSON.stringify(one.message) === JSON.stringify(other.message);
}

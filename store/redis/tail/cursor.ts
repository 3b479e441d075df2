import type { LogEntry } from '../../../protocol/chunk.js';
import { HelixError } from '../../../protocol/errors.js';
import type { Batch } from './batch.js';
import type { LogPage } from './pages.js';

/** Creates a follower's position in a log, with the facts that reveal a rewound log. */
export function createCursor(fromSequence: number) {
  /** All entries up to this sequence are known, including withdrawn ones. */
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
      // On the same server, a missing entry was withdrawn or trimmed, which is fine.
      throw rewound();
    }
  }

  return {
    /** Returns the sequence from which reading continues; its entry is read again and compared. */
    anchor: (): number => last?.sequence ?? known,
    /** Returns the new entries of a page. @throws HelixError `rewound` */
    takePage: (page: LogPage): LogEntry[] => {
      const fresh = page.entries.filter(({ sequence }) => sequence > known);
      refuseRewound(page, fresh);
      const [first] = page.entries;
      if (last === undefined && first?.sequence === known) last = first;
      if (last === undefined || first !== undefined) server = page.server;
      advance(fresh);
      if (!page.isFull) known = Math.max(known, page.sequence);
      return fresh;
    },
    /** Returns true if entries before this batch were missed. */
    isGapBefore: ({ previous }: Batch): boolean => previous > known,
    /** Returns the new entries of a batch. */
    takeBatch: (entries: LogEntry[]) => advance(entries.filter(({ sequence }) => sequence > known)),
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

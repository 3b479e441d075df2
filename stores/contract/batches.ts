import type { BatchItem, BatchProblem, BatchTerms } from '../../protocol/batch-run.js';
import type { SessionOwner } from './waiting.js';

/** What a batch does, for whom and to what: all that its workflow may not hold. */
export interface BatchWork extends BatchTerms {
  items: readonly BatchItem[];
  /** Items that were refused before it began. */
  refused: number;
}

/** What is shown of a batch beside its counts. */
export interface BatchAbout {
  /** Who began it. Absent once that person is erased, or the record has expired. */
  by?: string | undefined;
  problems: BatchProblem[];
}

/**
 * Names and reasons of batches. A workflow's history cannot be changed, so it holds numbers, and the
 * work is read here until the batch has ended; who began it and what was refused stay for 7 days.
 */
export interface Batches {
  /**
   * Stores the work of a batch, and the first of the items that were refused before it began; of one
   * that was stored before, what is stored stays, and its work is returned.
   */
  save: (
    batchId: string,
    work: BatchWork,
    problems?: readonly BatchProblem[],
  ) => Promise<BatchWork>;
  /** Undefined once the batch has ended, or its person is erased. */
  work: (batchId: string) => Promise<BatchWork | undefined>;
  /** Notes items that were refused, up to `LIMITS.batchProblems`; nothing of a batch that is forgotten. */
  refuse: (batchId: string, problems: readonly BatchProblem[]) => Promise<void>;
  about: (batchId: string) => Promise<BatchAbout>;
  /** Forgets the work of a batch that has ended. */
  end: (batchId: string) => Promise<void>;
  /** Batches that a person has begun. */
  of: (who: SessionOwner) => Promise<string[]>;
  /** Forgets all of a batch that a person has begun. */
  forget: (who: SessionOwner, batchId: string) => Promise<void>;
}

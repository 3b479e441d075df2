import type { Usage } from '../protocol/chunk.js';
import type { Pricing } from './llm-settings.js';

/** A summary in place of the oldest messages of a conversation. */
export interface CompactedMessages {
  /** Number of messages that it stands for. */
  readonly messages: number;
  readonly summary: string;
}

/** What a summary took, beside the summary. */
export interface MadeCompaction extends CompactedMessages {
  readonly usage?: Usage | undefined;
  /** Default: the agent's prices. */
  readonly pricing?: Pricing | undefined;
}

/** Where summaries of a conversation are kept. */
export interface CompactionRecord {
  /** The newest one. */
  readonly kept: CompactedMessages | undefined;
  /**
   * Has a summary made, unless this step has one already, and stores it. A function that fails, or takes
   * more than `timeoutMs`, is logged and gives `undefined`. Of a summary, 32,000 characters are kept.
   *
   * @throws DefinitionError for one that is blank, or that stands for no message or for all of them
   */
  readonly keep: (
    make: (signal: AbortSignal) => MadeCompaction | PromiseLike<MadeCompaction>,
    timeoutMs: number,
  ) => Promise<CompactedMessages | undefined>;
}

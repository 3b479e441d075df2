import type {
  CompactedMessages,
  CompactionRecord,
  MadeCompaction,
} from '../../agents/compaction/compaction-record.js';
import {
  assertKeepRequest,
  checkedCompaction,
} from '../../agents/compaction/checked-compaction.js';
import type { LlmConfig } from '../../agents/definitions.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Compaction, Row } from '../../protocol/rows.js';
import type { Writer } from '../../stores/contract/log.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import { addUsage } from '../../stores/record/run-usage.js';
import type { Attempt } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import { orAborted } from '../or-aborted.js';
import { toLoggedError } from './provider-failure.js';
import { toRunUsage } from './spending.js';

/** The summaries that an attempt at a step uses. */
export interface Compactions {
  /** @param rowOf the row that each message of the prompt begins with */
  record: (rowOf: readonly number[], prices: Pick<LlmConfig, 'pricing'>) => CompactionRecord;
  /** The one that this step has made, for its row. */
  made: () => Compaction | undefined;
  /** What summaries of this attempt have taken; the record has it. */
  usage: () => RunUsage | undefined;
  /** Why none could be stored. */
  fault: () => { error: unknown } | undefined;
}

interface Scope {
  attempt: Pick<Attempt, 'signal'>;
  writer: Writer;
  rows: readonly Row[];
  llmConfig: Pick<LlmConfig, 'stallTimeoutMs'>;
}

/** Of the time that the agent's own code has before a model call. */
const SHARE = 0.75;

export function createCompactions(
  { store, logger }: Pick<ActivityDeps, 'store' | 'logger'>,
  { attempt, writer, rows, llmConfig }: Scope,
): Compactions {
  const { stallTimeoutMs = LIMITS.stallTimeoutMs } = llmConfig;
  const { runId, step } = writer;
  let made: Compaction | undefined;
  let used: RunUsage | undefined;
  let fault: { error: unknown } | undefined;

  /** What fails here is no fault of the agent's code. */
  async function stored(input: { compaction?: Compaction; usage?: RunUsage | undefined }) {
    try {
      const { compaction, usage } = input;
      return await store.steps.compact({
        writer,
        ...(compaction !== undefined && { compaction }),
        ...(usage !== undefined && { usage }),
      });
    } catch (error) {
      fault = { error };
      throw error;
    }
  }

  /** Undefined if the agent's code could not make one. */
  async function make(
    write: Parameters<CompactionRecord['keep']>[0],
    timeoutMs: number,
  ): Promise<MadeCompaction | undefined> {
    const limit = AbortSignal.timeout(Math.min(timeoutMs, stallTimeoutMs * SHARE));
    const signal = AbortSignal.any([attempt.signal, limit]);
    try {
      return await orAborted(Promise.resolve(write(signal)), signal);
    } catch (error) {
      attempt.signal.throwIfAborted();
      logger.warn({ err: toLoggedError(error), runId, step }, 'a conversation was not summarised');
      return undefined;
    }
  }

  return {
    record: (rowOf, prices) => {
      const newest = made ?? newestOf(rows);
      const toMessages = ({ rows: count, summary }: Compaction): CompactedMessages => ({
        messages: rowOf.filter((row) => row < count).length,
        summary,
      });
      return {
        kept: newest && toMessages(newest),
        keep: async (write, timeoutMs) => {
          assertKeepRequest(write, timeoutMs);
          const before = await stored({});
          if (before.kind === 'kept') {
            made = before.compaction;
            return toMessages(made);
          }
          const given = await make(write, timeoutMs);
          if (given === undefined) return undefined;
          const checked = checkedCompaction(given, rowOf.length);
          const { messages, summary, usage: tokens, pricing = prices.pricing } = checked;
          const usage = toRunUsage(tokens, pricing === undefined ? {} : { pricing });
          const compaction = { rows: rowOf[messages] ?? rows.length, summary };
          const kept = await stored({ compaction, usage });
          // Another attempt may have taken over: what follows finds that out.
          if (kept.kind === 'kept') used = addUsage(used, usage);
          made = kept.kind === 'kept' ? kept.compaction : compaction;
          return toMessages(made);
        },
      };
    },
    made: () => made,
    usage: () => used,
    fault: () => fault,
  };
}

/** The newest one that the transcript has. Pure. */
function newestOf(rows: readonly Row[]): Compaction | undefined {
  const row = rows.findLast((each) => each.role === 'assistant' && each.compaction !== undefined);
  return row?.role === 'assistant' ? row.compaction : undefined;
}

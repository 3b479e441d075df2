import { endsWithin } from '../../protocol/time.js';
import type {
  CompactedMessages,
  CompactionRecord,
  MadeCompaction,
} from '../../agents/prepared-step.js';
import { assertSettings } from '../../agents/definition-error.js';
import { Callback, Duration, isCount, must, settings } from '../../agents/fields.js';
import { Prices } from '../../agents/llm-settings.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Compaction, Row } from '../../protocol/rows.js';
import type { RunUsage } from '../../store/contract/runs.js';
import { addUsage } from '../../store/contract/usage.js';
import type { ActivityDeps } from '../deps.js';
import { orAborted } from '../attempt.js';
import type { ClaimedStep, Compactions, StepMiddleware } from './middleware.js';
import { toLoggedError } from './provider-failure.js';
import { toRunUsage } from './spending.js';

/** Gives the agent's `prepareStep` the summaries that stand for the oldest rows, and keeps new ones. */
export function compaction(deps: ActivityDeps): StepMiddleware {
  return (step) => {
    const { fault, ...compactions } = createCompactions(deps, step);
    return async (request, next) => {
      request.compactions = compactions;
      const answer = await next(request);
      // The agent's own code has got the error as well: it is no fault of that.
      const failed = answer.failure && fault();
      if (failed !== undefined) throw failed.error;
      return answer;
    };
  };
}

/** Of the time that the agent's own code has before a model call. */
const SHARE = 0.75;

function createCompactions(
  { store, logger }: Pick<ActivityDeps, 'store' | 'logger'>,
  { attempt, writer, rows, agent }: ClaimedStep,
): Compactions & { fault: () => { error: unknown } | undefined } {
  const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
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
    const signal = endsWithin(Math.min(timeoutMs, stallTimeoutMs * SHARE), attempt.signal);
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

/** Characters of a summary that are kept; it stands in every later prompt. */
const SUMMARY_CHARS = 32_000;

const SUBJECT = { call: 'compaction.keep' };

const Request = settings({ make: Callback, timeoutMs: Duration });

const Summary = must(
  'a string that is not blank',
  (value) => typeof value === 'string' && value.trim() !== '',
);
const Tokens = must('token counts', (value) => typeof value === 'object' && value !== null);

/** @throws DefinitionError if `keep` was called with something else */
function assertKeepRequest(make: unknown, timeoutMs: unknown): void {
  assertSettings(Request, { make, timeoutMs }, SUBJECT);
}

/**
 * A summary as it is stored. It comes from an agent's own code, and one that stands for all messages, or
 * for more than there are, would leave the newest question out of every later prompt.
 *
 * @param count messages of the conversation
 * @throws DefinitionError that says which field cannot be
 */
function checkedCompaction(made: MadeCompaction, count: number): MadeCompaction {
  const most = count - 1;
  const messages = must(
    `a whole number from 1 to ${String(most)}`,
    (value) => isCount(value) && (value as number) <= most,
  );
  const fields = {
    messages,
    summary: Summary,
    usage: Tokens.optional(),
    pricing: Prices.optional(),
  };
  assertSettings(settings(fields), made, SUBJECT);
  return { ...made, summary: made.summary.slice(0, SUMMARY_CHARS).toWellFormed() };
}

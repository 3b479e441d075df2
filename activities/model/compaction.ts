import { endsWithin } from '../../protocol/time.js';
import type {
  CompactedMessages,
  CompactionRecord,
  FailedCompaction,
  MadeCompaction,
} from '../../agents/step-hooks.js';
import { assertSettings } from '../../agents/definition-error.js';
import {
  Callback,
  Duration,
  isCount,
  isObject,
  must,
  settings,
  Text,
} from '../../agents/fields.js';
import { Prices } from '../../agents/llm-settings.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import type { Compaction, Row } from '../../protocol/rows.js';
import type { RunUsage } from '../../store/contract/runs.js';
import { addUsage } from '../../store/contract/usage.js';
import type { ActivityDeps } from '../deps.js';
import { orAborted } from '../attempt.js';
import type { Compactions, StepMiddleware } from './middleware.js';
import { toRunUsage } from './spending.js';

/** Share of the agent's time before a model call that a summary may take. */
const SHARE = 0.75;

/** Gives `prepareStep` the summaries of the oldest rows, and stores new ones. */
export function compaction({ store }: Pick<ActivityDeps, 'store'>): StepMiddleware {
  return ({ attempt, writer, rows, agent, warn }) => {
    const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
    let made: Compaction | undefined;
    let used: RunUsage | undefined;
    /** An error of the store; the agent's code gets it too, but did not cause it. */
    let fault: { error: unknown } | undefined;

    async function stored(input: { compaction?: Compaction; usage?: RunUsage | undefined }) {
      try {
        return await store.steps.compact({ writer, ...input });
      } catch (error) {
        fault = { error };
        throw error;
      }
    }

    /** Returns undefined if the agent's code failed to make a summary. */
    async function make(
      write: Parameters<CompactionRecord['keep']>[0],
      timeoutMs: number,
    ): Promise<MadeCompaction | FailedCompaction | undefined> {
      const signal = endsWithin(Math.min(timeoutMs, stallTimeoutMs * SHARE), attempt.signal);
      try {
        return await orAborted(Promise.resolve(write(signal)), signal);
      } catch (error) {
        attempt.signal.throwIfAborted();
        warn('a conversation was not summarised', error);
        return undefined;
      }
    }

    const record: Compactions['record'] = (rowOf, prices) => {
      const newest = made ?? newestOf(rows);
      const toMessages = ({ rows: count, summary }: Compaction): CompactedMessages => ({
        messages: rowOf.filter((row) => row < count).length,
        summary,
      });
      return {
        kept: newest && toMessages(newest),
        keep: async (write, timeoutMs) => {
          assertSettings(Request, { make: write, timeoutMs }, SUBJECT);
          const before = await stored({});
          if (before.kind === 'kept') {
            made = before.compaction;
            return toMessages(made);
          }
          const given = await make(write, timeoutMs);
          if (given === undefined) return undefined;
          const usageOf = ({ usage, pricing = prices.pricing }: typeof given) =>
            toRunUsage(usage, { pricing });
          if (isFailed(given)) {
            assertSettings(Failed, given, SUBJECT);
            warn('a conversation was not summarised', new Error(given.failure));
            const usage = usageOf(given);
            if ((await stored({ usage })).kind === 'none') used = addUsage(used, usage);
            return undefined;
          }
          const { messages, summary } = checkedCompaction(given, rowOf.length);
          const usage = usageOf(given);
          const compaction = { rows: rowOf[messages] ?? rows.length, summary };
          const kept = await stored({ compaction, usage });
          // If another attempt has taken over, the next write finds out.
          if (kept.kind === 'kept') used = addUsage(used, usage);
          made = kept.kind === 'kept' ? kept.compaction : compaction;
          return toMessages(made);
        },
      };
    };

    return async (request, next) => {
      request.compactions = { record, made: () => made, usage: () => used };
      const answer = await next(request);
      if (answer.failure !== undefined && fault !== undefined) throw fault.error;
      return answer;
    };
  };
}

function newestOf(rows: readonly Row[]): Compaction | undefined {
  const row = rows.findLast((each) => each.role === 'assistant' && each.compaction !== undefined);
  return row?.role === 'assistant' ? row.compaction : undefined;
}

/** Maximum length of a stored summary, in characters; every later prompt contains it. */
const SUMMARY_CHARS = 32_000;

const SUBJECT = { call: 'compaction.keep' };

const Request = settings({ make: Callback, timeoutMs: Duration });

const Summary = must(
  'a string that is not blank',
  (value) => typeof value === 'string' && value.trim() !== '',
);
const Tokens = must('token counts', isObject);
const Spent = { usage: Tokens.optional(), pricing: Prices.optional() };
const Failed = settings({ failure: Text, ...Spent });

function isFailed(given: MadeCompaction | FailedCompaction): given is FailedCompaction {
  return isObject(given) && 'failure' in given;
}

/**
 * Checks a summary from the agent's own code: one that stands for all messages, or for more than
 * exist, would hide the newest question from every later prompt.
 *
 * @param count number of messages in the conversation
 * @throws DefinitionError that names the invalid field
 */
function checkedCompaction(made: MadeCompaction, count: number): MadeCompaction {
  const max = count - 1;
  const messages = must(
    `a whole number from 1 to ${String(max)}`,
    (value) => isCount(value) && (value as number) <= max,
  );
  assertSettings(settings({ messages, summary: Summary, ...Spent }), made, SUBJECT);
  return { ...made, summary: startOf(made.summary, SUMMARY_CHARS) };
}

import { assertSettings } from '../definition-error.js';
import { Duration, Callback, isCount, must, settings } from '../fields.js';
import { Prices } from '../llm-settings.js';
import type { MadeCompaction } from './compaction-record.js';

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
export function assertKeepRequest(make: unknown, timeoutMs: unknown): void {
  assertSettings(Request, { make, timeoutMs }, SUBJECT);
}

/**
 * A summary as it is stored. It comes from an agent's own code, and one that stands for all messages, or
 * for more than there are, would leave the newest question out of every later prompt.
 *
 * @param count messages of the conversation
 * @throws DefinitionError that says which field cannot be
 */
export function checkedCompaction(made: MadeCompaction, count: number): MadeCompaction {
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

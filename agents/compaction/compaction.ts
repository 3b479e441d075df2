import type { ModelMessage } from 'ai';
import { assertSettings, DefinitionError } from '../definition-error.js';
import type {
  AgentModel,
  PrepareStep,
  PrepareStepOptions,
  PreparedStep,
  Pricing,
} from '../definitions.js';
import { Callback, Duration, isCount, must, settings, Text } from '../fields.js';
import { Model, Prices } from '../llm-settings.js';
import { estimateTokens, partsOf } from './message-text.js';
import {
  summarizeBy,
  SUMMARY_INSTRUCTIONS,
  toUsage,
  type Summary,
  type ToSummarize,
} from './summarize.js';

/** When a conversation is summarised, how, and what stays as it is. */
export interface CompactionSettings {
  /** Tokens of the messages, estimated, beyond which the oldest ones are summarised. */
  readonly maxTokens: number;
  /** Tokens of the newest messages, which stay as they are. Default: a quarter of `maxTokens`. */
  readonly keepTokens?: number;
  /** The model that writes the summary. Default: the agent's. */
  readonly model?: AgentModel;
  /** What that model's tokens cost. Default: the agent's prices. */
  readonly pricing?: Pricing;
  /** What that model is to do. Default: notes of goals, decisions, facts, results and what is open. */
  readonly instructions?: string;
  /** Most tokens of a summary. Default: 2,000. */
  readonly maxOutputTokens?: number;
  /** Writes the summary in place of a model. */
  readonly summarize?: (request: ToSummarize) => Summary | PromiseLike<Summary>;
  /** Default: an estimate of four bytes of text a token, and 1,600 tokens a file. */
  readonly countTokens?: (messages: readonly ModelMessage[]) => number;
  /** Longest time that a summary may take, ms. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * What the model gets when no summary could be written: all messages, or only the newest ones.
   * Default: `'full'`.
   */
  readonly fallback?: 'full' | 'truncate';
}

const Count = must('a whole number above 0', isCount);

const Settings = settings({
  maxTokens: Count,
  keepTokens: Count.optional(),
  model: Model.optional(),
  pricing: Prices.optional(),
  instructions: Text.optional(),
  maxOutputTokens: Count.optional(),
  summarize: Callback.optional(),
  countTokens: Callback.optional(),
  timeoutMs: Duration.optional(),
  fallback: must(
    `'full' or 'truncate'`,
    (value) => value === 'full' || value === 'truncate',
  ).optional(),
});

/** A smaller part of `maxTokens` is not worth a summary, nor is a failed one tried again for it. */
const WORTH = 1 / 8;
/** Conversations whose failures are remembered. */
const MOST_FAILURES = 1_000;

/**
 * A `prepareStep` for long conversations: once the messages take more than `maxTokens`, a summary stands
 * in place of the oldest ones. It is stored with the conversation, so no later step, retry or branch
 * writes it again, and it counts toward the run's usage and `spendCap`. Transcript and page keep every
 * message.
 *
 * @example
 * import { compaction, defineAgent } from 'helix-temporal';
 *
 * const agent = defineAgent({
 *   name: 'researcher',
 *   systemPrompt: 'You research.',
 *   llmConfig: { model: 'openai/gpt-5' },
 *   prepareStep: compaction({ maxTokens: 100_000, model: 'openai/gpt-5-mini' }),
 * });
 *
 * @throws DefinitionError for settings that cannot be
 */
export function compaction(config: CompactionSettings): PrepareStep {
  assertSettings(Settings, config, { call: 'compaction' });
  const { maxTokens, keepTokens = Math.ceil(maxTokens / 4), countTokens = estimateTokens } = config;
  if (keepTokens >= maxTokens) {
    throw new DefinitionError('keepTokens must be below maxTokens', { call: 'compaction' });
  }
  const { fallback = 'full', timeoutMs = 30_000, pricing } = config;
  /** Tokens of a conversation when no summary of it could be written. */
  const failures = new Map<string, number>();

  return async (options): Promise<PreparedStep | undefined> => {
    const { messages, sessionId } = options;
    const { kept } = options.compaction;
    const from = kept?.messages ?? 0;
    const tokens = countTokens(toPrompt(messages, kept));
    if (tokens <= maxTokens) return kept && { messages: toPrompt(messages, kept) };
    const cut = chooseCut(messages, from, keepTokens, countTokens);
    const isWorth = countTokens(messages.slice(from, cut)) >= maxTokens * WORTH;
    const failedAt = failures.get(sessionId);
    const isTried = failedAt !== undefined && Math.abs(tokens - failedAt) < maxTokens * WORTH;
    if (isWorth && !isTried) {
      const made = await options.compaction.keep(async (signal) => {
        const replaced = messages.slice(from, cut);
        const summary = await write(options, {
          messages: replaced,
          previous: kept?.summary,
          signal,
        });
        return { messages: cut, summary: summary.text, usage: toUsage(summary.usage), pricing };
      }, timeoutMs);
      failures.delete(sessionId);
      if (made !== undefined) return { messages: toPrompt(messages, made) };
      remember(failures, sessionId, tokens);
    }
    if (fallback === 'truncate' && cut > from) {
      const summary = `${kept?.summary ?? ''}\n[Messages after this are left out.]`;
      return { messages: toPrompt(messages, { messages: cut, summary }) };
    }
    return kept && { messages: toPrompt(messages, kept) };
  };

  async function write(
    { model }: PrepareStepOptions,
    request: ToSummarize,
  ): Promise<Exclude<Summary, string>> {
    const { instructions = SUMMARY_INSTRUCTIONS, maxOutputTokens = 2_000 } = config;
    const limits = { instructions, maxOutputTokens, maxChars: maxTokens * 4 };
    const summary = await (config.summarize?.(request) ??
      summarizeBy(config.model ?? model, request, limits));
    const { text, usage } = typeof summary === 'string' ? { text: summary } : summary;
    if (typeof text !== 'string' || text.trim() === '') throw new Error('the summary is empty');
    return { text, ...(usage && { usage }) };
  }
}

/** The messages with the summary in place of those that it stands for. */
function toPrompt(
  messages: ModelMessage[],
  kept: { messages: number; summary: string } | undefined,
): ModelMessage[] {
  if (kept === undefined) return messages;
  const text = `Notes of the conversation so far, whose messages are left out here:\n\n${kept.summary}`;
  // Marked, since the user did not write it.
  const providerOptions = { helix: { internal: true } };
  return [
    { role: 'user', content: [{ type: 'text', text }], providerOptions },
    ...messages.slice(kept.messages),
  ];
}

function remember(failures: Map<string, number>, sessionId: string, tokens: number): void {
  const [oldest] = failures.keys();
  if (failures.size >= MOST_FAILURES && oldest !== undefined) failures.delete(oldest);
  failures.set(sessionId, tokens);
}

/**
 * How many of the oldest messages may be replaced by a summary, so that the others take `keepTokens` at
 * most. A call stays with its result, also one that a provider gives in a later reply; a call that waits
 * for its result stays. If the newest messages alone take more, all before them are replaced. Pure.
 *
 * @param from messages that are replaced already
 * @returns `from` if no further message can be replaced
 */
export function chooseCut(
  messages: readonly ModelMessage[],
  from: number,
  keepTokens: number,
  countTokens: (messages: readonly ModelMessage[]) => number,
): number {
  const places = placesBetweenCalls(messages, from);
  let cut = from;
  let kept = 0;
  let counted = messages.length;
  for (const place of places.reverse()) {
    kept += countTokens(messages.slice(place, counted));
    counted = place;
    if (kept > keepTokens && cut > from) break;
    cut = place;
  }
  return cut;
}

/** Where the conversation can be cut: no call before the place has its result after it. */
function placesBetweenCalls(messages: readonly ModelMessage[], from: number): number[] {
  const answered = new Set(
    messages.flatMap((message) =>
      partsOf(message).flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
    ),
  );
  const newestQuestion = messages.findLastIndex(({ role }) => role === 'user');
  const open = new Set<string>();
  const places: number[] = [];
  for (const [at, message] of messages.entries()) {
    if (at > from && message.role !== 'tool' && open.size === 0) places.push(at);
    for (const part of partsOf(message)) {
      // What was not answered before the newest question never will be.
      if (part.type === 'tool-call' && (answered.has(part.toolCallId) || at > newestQuestion)) {
        open.add(part.toolCallId);
      }
      if (part.type === 'tool-result') open.delete(part.toolCallId);
    }
  }
  return places;
}

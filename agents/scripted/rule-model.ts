import type { LanguageModelV4, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { toTurn } from './conversation.js';
import { createReplyModel, createReply, cutWords } from './reply-model.js';

/** Pace that people can read along with, ms per word. */
const WORD_MS = 25;

/** Input of a rule: the turn so far. */
export interface RuleTurn {
  /** Text of the newest user message. */
  readonly userText: string;
  /** Results of the tools that the turn has called, oldest first. */
  readonly results: readonly RuleResult[];
}

export interface RuleResult {
  readonly tool: string;
  /** `denied`: a person refused the call; `failed`: the tool failed. */
  readonly outcome: 'done' | 'denied' | 'failed';
  /** Result of the tool, or the error or denial in its place. */
  readonly output: unknown;
}

/** Text that the model says word by word, and the calls that it then makes. */
export interface RuleReply {
  readonly say?: string;
  readonly calls?: readonly { readonly tool: string; readonly args: object }[];
}

/**
 * Creates a model that follows your rules, for trying an app without a key. It has no memory: any
 * process may ask, and the rule gets the turn so far.
 *
 * @example
 * import { createRuleModel, defineAgent } from 'helix-temporal';
 *
 * export const greeter = defineAgent({
 *   name: 'greeter',
 *   systemPrompt: 'You greet people.',
 *   tools: [],
 *   llmConfig: { model: createRuleModel(({ userText }) => ({ say: `You said: ${userText}` })) },
 * });
 */
export function createRuleModel(rule: (turn: RuleTurn) => RuleReply): LanguageModelV4 {
  return createReplyModel({
    provider: 'helix-rules',
    modelId: 'rules',
    toReply: ({ prompt }) => {
      const { userText, since, calls: step } = toTurn(prompt);
      const results = since
        .flatMap((message) => (message.role === 'tool' ? message.content : []))
        .filter((part) => part.type === 'tool-result')
        .map(toResult);
      const { say = '', calls = [] } = rule({ userText, results });
      return createReply({
        pieces: cutWords(say),
        everyMs: WORD_MS,
        calls: calls.map(({ tool, args }, at) => {
          const input = JSON.stringify(args);
          return { tool, id: `${tool}-${String(step)}-${String(at)}`, input, inputPieces: [input] };
        }),
      });
    },
  });
}

function toResult({ toolName: tool, output }: LanguageModelV4ToolResultPart): RuleResult {
  if (output.type === 'execution-denied') {
    return { tool, outcome: 'denied', output: output.reason };
  }
  const failed = output.type === 'error-text' || output.type === 'error-json';
  return { tool, outcome: failed ? 'failed' : 'done', output: output.value };
}

import type * as Anthropic from '@ai-sdk/anthropic';
import type * as Google from '@ai-sdk/google';
import type * as OpenAI from '@ai-sdk/openai';
import type * as OpenAICompatible from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { readUrl, requireValue, type ModelEnvironment } from './configuration-error.js';

/** A provider whose package is an optional peer of ours. */
export interface KnownProvider {
  package: string;
  major: number;
  /** @throws ModelConfigurationError */
  check: (env: ModelEnvironment) => void;
  create: (provider: never, id: string, env: ModelEnvironment) => LanguageModelV4;
}

/** Providers by the prefix of `MODEL`, before its colon. */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: {
    package: '@ai-sdk/openai',
    major: 4,
    check: checkOf('OPENAI'),
    // The chat API keeps a step's history as plain messages. The responses API refers back to
    // stored items, which would tie a conversation to the provider's memory.
    create: ({ createOpenAI }: typeof OpenAI, id, env) =>
      createOpenAI(settingsOf('OPENAI', env)).chat(id),
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    major: 4,
    check: checkOf('ANTHROPIC'),
    create: ({ createAnthropic }: typeof Anthropic, id, env) =>
      createAnthropic(settingsOf('ANTHROPIC', env)).languageModel(id),
  },
  google: {
    package: '@ai-sdk/google',
    major: 4,
    check: checkOf('GOOGLE_GENERATIVE_AI'),
    // Older releases have this name too.
    create: ({ createGoogleGenerativeAI }: typeof Google, id, env) =>
      createGoogleGenerativeAI(settingsOf('GOOGLE_GENERATIVE_AI', env)).languageModel(id),
  },
  'openai-compatible': {
    package: '@ai-sdk/openai-compatible',
    major: 3,
    // Local servers accept requests without a key.
    check: (env) => {
      requireValue(env, 'OPENAI_COMPATIBLE_BASE_URL');
      readUrl(env, 'OPENAI_COMPATIBLE_BASE_URL');
    },
    create: ({ createOpenAICompatible }: typeof OpenAICompatible, id, env) =>
      createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: readUrl(env, 'OPENAI_COMPATIBLE_BASE_URL') ?? '',
        ...(env['OPENAI_COMPATIBLE_API_KEY'] && { apiKey: env['OPENAI_COMPATIBLE_API_KEY'] }),
        includeUsage: true,
      }).chatModel(id),
  },
};

function checkOf(prefix: string): KnownProvider['check'] {
  return (env) => {
    requireValue(env, `${prefix}_API_KEY`);
    readUrl(env, `${prefix}_BASE_URL`);
  };
}

function settingsOf(
  prefix: string,
  env: ModelEnvironment,
): { apiKey: string | undefined; baseURL: string | undefined } {
  return { apiKey: env[`${prefix}_API_KEY`], baseURL: readUrl(env, `${prefix}_BASE_URL`) };
}

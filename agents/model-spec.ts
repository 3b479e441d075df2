import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createScriptedModel } from './scripted/scripted-model.js';

/** The environment that a model spec can need; names are those of the variables. */
export interface ModelEnvironment {
  readonly OPENAI_API_KEY?: string | undefined;
  readonly OPENAI_BASE_URL?: string | undefined;
  readonly ANTHROPIC_API_KEY?: string | undefined;
  readonly ANTHROPIC_BASE_URL?: string | undefined;
  readonly OPENAI_COMPATIBLE_API_KEY?: string | undefined;
  readonly OPENAI_COMPATIBLE_BASE_URL?: string | undefined;
}

/** The configured model cannot be created; `variable` is the one to set or to correct. */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError';
  readonly variable: 'MODEL' | keyof ModelEnvironment;

  constructor(variable: ModelConfigurationError['variable'], message: string) {
    super(message);
    this.variable = variable;
  }
}

type Provider = (id: string, env: ModelEnvironment) => LanguageModelV4;

const providers: Readonly<Record<string, Provider>> = {
  // Chat completions rather than responses: a step's history is plain messages, where the responses
  // API refers back to items it stored, which would tie a conversation to the provider's memory.
  openai: (id, env) =>
    createOpenAI({
      apiKey: requireValue(env, 'OPENAI_API_KEY'),
      baseURL: readUrl(env, 'OPENAI_BASE_URL'),
    }).chat(id),
  anthropic: (id, env) =>
    createAnthropic({
      apiKey: requireValue(env, 'ANTHROPIC_API_KEY'),
      baseURL: readUrl(env, 'ANTHROPIC_BASE_URL'),
    }).languageModel(id),
  // Local servers accept requests without a key, so none is required.
  'openai-compatible': (id, env) => {
    requireValue(env, 'OPENAI_COMPATIBLE_BASE_URL');
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: readUrl(env, 'OPENAI_COMPATIBLE_BASE_URL') ?? '',
      ...(env.OPENAI_COMPATIBLE_API_KEY && { apiKey: env.OPENAI_COMPATIBLE_API_KEY }),
      includeUsage: true,
    }).chatModel(id);
  },
};

/**
 * The model that `MODEL` names: `<provider>:<id>` with provider `openai`, `anthropic` or
 * `openai-compatible`; `scripted`, empty or undefined for the model that needs no key.
 *
 * @throws ModelConfigurationError that names the variable to set
 */
export function modelFromSpec(spec: string | undefined, env: ModelEnvironment): LanguageModelV4 {
  if (!spec || spec === 'scripted') return createScriptedModel();
  // At the first colon only: ids may contain colons.
  const [, name = '', id = ''] = /^([^:]*):(.+)$/s.exec(spec) ?? [];
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (provider === undefined || id === '') {
    const known = Object.keys(providers).map((known) => `${known}:<id>`);
    throw new ModelConfigurationError(
      'MODEL',
      `MODEL is "${spec}"; it must be one of scripted, ${known.join(', ')}.`,
    );
  }
  return provider(id, env);
}

function requireValue(env: ModelEnvironment, variable: keyof ModelEnvironment): string {
  const value = env[variable];
  if (!value) {
    throw new ModelConfigurationError(variable, `${variable} is not set; MODEL needs it.`);
  }
  return value;
}

function readUrl(env: ModelEnvironment, variable: keyof ModelEnvironment): string | undefined {
  const value = env[variable];
  if (!value) return undefined;
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (isHttp) return value;
  throw new ModelConfigurationError(variable, `${variable} is not an http(s) URL: "${value}".`);
}

import type * as Anthropic from '@ai-sdk/anthropic';
import type * as OpenAI from '@ai-sdk/openai';
import type * as OpenAICompatible from '@ai-sdk/openai-compatible';
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

/**
 * The configured model cannot be created. `variable` is the one to set or to correct; `install` is the
 * command that installs the provider's package, if that is what is missing.
 */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError';
  readonly variable: 'MODEL' | keyof ModelEnvironment;
  readonly install: string | undefined;

  constructor(
    variable: ModelConfigurationError['variable'],
    message: string,
    options: ErrorOptions & { install?: string } = {},
  ) {
    super(message, options);
    this.variable = variable;
    this.install = options.install;
  }
}

/** Loads a package by its name. */
export type LoadPackage = (name: string) => Promise<unknown>;

// Bundlers leave it alone: it is looked up where the application runs, which need not have the package.
const loadInstalled: LoadPackage = (name) =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);

interface Provider {
  package: string;
  major: number;
  /** @throws ModelConfigurationError */
  check: (env: ModelEnvironment) => void;
  create: (provider: never, id: string, env: ModelEnvironment) => LanguageModelV4;
}

const providers: Readonly<Record<string, Provider>> = {
  openai: {
    package: '@ai-sdk/openai',
    major: 4,
    check: (env) => {
      requireValue(env, 'OPENAI_API_KEY');
      readUrl(env, 'OPENAI_BASE_URL');
    },
    // Chat completions rather than responses: a step's history is plain messages, where the responses
    // API refers back to items it stored, which would tie a conversation to the provider's memory.
    create: ({ createOpenAI }: typeof OpenAI, id, env) =>
      createOpenAI({ apiKey: env.OPENAI_API_KEY, baseURL: readUrl(env, 'OPENAI_BASE_URL') }).chat(
        id,
      ),
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    major: 4,
    check: (env) => {
      requireValue(env, 'ANTHROPIC_API_KEY');
      readUrl(env, 'ANTHROPIC_BASE_URL');
    },
    create: ({ createAnthropic }: typeof Anthropic, id, env) =>
      createAnthropic({
        apiKey: env.ANTHROPIC_API_KEY,
        baseURL: readUrl(env, 'ANTHROPIC_BASE_URL'),
      }).languageModel(id),
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
        ...(env.OPENAI_COMPATIBLE_API_KEY && { apiKey: env.OPENAI_COMPATIBLE_API_KEY }),
        includeUsage: true,
      }).chatModel(id),
  },
};

/**
 * The model that `MODEL` names: `<provider>:<id>` with provider `openai`, `anthropic` or
 * `openai-compatible`, whose package `@ai-sdk/<provider>` the application installs; `scripted`, empty or
 * undefined for the model that needs no key.
 *
 * @throws ModelConfigurationError that names the variable to set, or the package to install
 */
export function modelFromSpec(
  spec: string | undefined,
  env: ModelEnvironment,
): Promise<LanguageModelV4> {
  return createModel(spec, env, loadInstalled);
}

/**
 * The models that `MODEL` names, separated by commas: each stands in for those before it.
 *
 * @throws ModelConfigurationError as `modelFromSpec`
 */
export function modelsFromSpec(
  spec: string | undefined,
  env: ModelEnvironment,
): Promise<LanguageModelV4 | LanguageModelV4[]> {
  const specs = (spec ?? '').split(',').map((each) => each.trim());
  if (specs.length === 1) return modelFromSpec(spec, env);
  return Promise.all(specs.map((each) => modelFromSpec(each, env)));
}

/** As `modelFromSpec`, with packages from elsewhere. */
export async function createModel(
  spec: string | undefined,
  env: ModelEnvironment,
  load: LoadPackage,
): Promise<LanguageModelV4> {
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
  provider.check(env);
  return provider.create((await loadProvider(spec, provider, load)) as never, id, env);
}

async function loadProvider(
  spec: string,
  { package: name, major }: Provider,
  load: LoadPackage,
): Promise<unknown> {
  try {
    return await load(name);
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const install = `npm install ${name}@${String(major)}`;
    const message = `MODEL is "${spec}", and its package is not installed. Run: ${install}`;
    throw new ModelConfigurationError('MODEL', message, { install, cause });
  }
}

/** True if the package is not there, as opposed to one that it needs itself. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && error.message.includes(`'${name}'`);
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

import type * as Anthropic from '@ai-sdk/anthropic';
import type * as Google from '@ai-sdk/google';
import type * as OpenAI from '@ai-sdk/openai';
import type * as OpenAICompatible from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { createScriptedModel } from './scripted/scripted-model.js';
import { isMissing } from '../protocol/errors.js';

/**
 * Creates the model that `MODEL` names: `<provider>:<id>` with provider `openai`, `anthropic`,
 * `google`, `openai-compatible` or any other with a package `@ai-sdk/<provider>` that the
 * application installs; the keyless model for `scripted`, empty or undefined.
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
 * Creates the models that `MODEL` names, separated by commas; each replaces those before it.
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

/** Does the work of `modelFromSpec`, with an injected package loader. */
export async function createModel(
  spec: string | undefined,
  env: ModelEnvironment,
  load: LoadPackage,
): Promise<LanguageModelV4> {
  if (!spec || spec === 'scripted') return createScriptedModel();
  // Split at the first colon only: ids may contain colons.
  const [, name = '', id = ''] = /^([^:]*):(.+)$/s.exec(spec) ?? [];
  if (!isProviderName(name)) {
    const known = Object.keys(KNOWN_PROVIDERS).map((known) => `${known}:<id>`);
    throw new ModelConfigurationError(
      'MODEL',
      `MODEL is "${spec}"; it must be one of scripted, ${known.join(', ')}, or <name>:<id> of a package @ai-sdk/<name>.`,
    );
  }
  const provider = Object.hasOwn(KNOWN_PROVIDERS, name) ? KNOWN_PROVIDERS[name] : undefined;
  if (provider === undefined) return createModelOfAny({ spec, name, id }, env, load);
  provider.check(env);
  const release = `${provider.package}@${String(provider.major)}`;
  const exported = await loadProvider(spec, { name: provider.package, release }, load);
  return provider.create(exported as never, id, env);
}

/** Environment of a model spec: keys and addresses of providers, by variable. */
export type ModelEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Thrown if the configured model cannot be created. `variable` is the one to set or correct;
 * `install` is the command that installs a missing package.
 */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError';
  readonly variable: string;
  readonly install: string | undefined;

  constructor(
    variable: string,
    message: string,
    options: ErrorOptions & { install?: string } = {},
  ) {
    super(message, options);
    this.variable = variable;
    this.install = options.install;
  }
}

/** @throws ModelConfigurationError if the variable is not set */
function requireValue(env: ModelEnvironment, variable: string): string {
  const value = env[variable];
  if (!value) {
    throw new ModelConfigurationError(variable, `${variable} is not set; MODEL needs it.`);
  }
  return value;
}

/** @throws ModelConfigurationError if the variable is set and is no http(s) URL */
function readUrl(env: ModelEnvironment, variable: string): string | undefined {
  const value = env[variable];
  if (!value) return undefined;
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (isHttp) return value;
  throw new ModelConfigurationError(variable, `${variable} is not an http(s) URL: "${value}".`);
}

type Model = Parameters<typeof wrapLanguageModel>[0]['model'];
type Make = (id: string) => Model;
type Create = (settings: object) => { languageModel: Make; chat?: Make };

/** Limits `MODEL` to the AI SDK's scope, so that it cannot name other code. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Errors of providers that lack a key or another setting, in all their release lines. */
const LACKS = ['AI_LoadAPIKeyError', 'AI_LoadSettingError', 'GatewayAuthenticationError'];

/** Providers whose key is a token that they request from the cloud over the network. */
const SIGNS_IN = ['google-vertex'];

/** Returns true if `@ai-sdk/<name>` is a valid package name. */
function isProviderName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Creates a model of any installed package `@ai-sdk/<name>`. Key and address come from
 * `<NAME>_API_KEY` and `<NAME>_BASE_URL` if set; otherwise the package reads its own variables.
 *
 * @throws ModelConfigurationError
 */
async function createModelOfAny(
  { spec, name, id }: { spec: string; name: string; id: string },
  env: ModelEnvironment,
  load: LoadPackage,
): Promise<LanguageModelV4> {
  const prefix = name.toUpperCase().replaceAll('-', '_');
  const apiKey = env[`${prefix}_API_KEY`];
  const baseURL = readUrl(env, `${prefix}_BASE_URL`);
  const settings = { ...(apiKey && { apiKey }), ...(baseURL && { baseURL }) };
  const exported = await loadProvider(spec, { name: `@ai-sdk/${name}` }, load);
  const create = factoryIn(exported, name);
  if (create === undefined) throw noLanguageModels(spec, name);
  const modelWith = (more: object): Model => {
    const provider = create({ ...settings, ...more });
    // The history is messages and not the provider's memory, as with OpenAI itself.
    return provider.chat === undefined ? provider.languageModel(id) : provider.chat(id);
  };
  try {
    const model = modelWith({});
    if (!SIGNS_IN.includes(name)) await expectRequest(modelWith({ fetch: sendNothing }));
    return wrapLanguageModel({ model, middleware: [] });
  } catch (cause) {
    if (isErrorOf(cause, ['AI_NoSuchModelError'])) throw noLanguageModels(spec, name, cause);
    if (!isErrorOf(cause, LACKS)) throw cause;
    const [reason = ''] = cause.message.trim().split('\n');
    const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/.exec(cause.message)?.[0] ?? 'MODEL';
    throw new ModelConfigurationError(variable, `MODEL is "${spec}": ${reason}`, { cause });
  }
}

/** Finds the factory regardless of case: `createDeepSeek` in `@ai-sdk/deepseek`. */
function factoryIn(exported: unknown, name: string): Create | undefined {
  const wanted = `create${name.replaceAll('-', '')}`;
  const found = Object.entries(exported ?? {}).find(([key]) => key.toLowerCase() === wanted);
  return typeof found?.[1] === 'function' ? (found[1] as Create) : undefined;
}

const sendNothing = (): Promise<never> => Promise.reject(new Error('Not sent.'));

/**
 * Sends a dummy request that never leaves, since providers look for their key on a request: missing
 * settings then show at the start rather than in people's first runs.
 *
 * @throws the provider's error, if it lacks a setting
 */
async function expectRequest(model: Model): Promise<void> {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
  try {
    // The aborted signal stops packages that do not send through the given fetch.
    await model.doGenerate({ prompt, abortSignal: AbortSignal.abort() });
  } catch (error) {
    if (isErrorOf(error, LACKS)) throw error;
  }
}

function noLanguageModels(spec: string, name: string, cause?: unknown): ModelConfigurationError {
  const message = `MODEL is "${spec}", and @ai-sdk/${name} has no such language model.`;
  return new ModelConfigurationError('MODEL', message, { cause });
}

function isErrorOf(error: unknown, names: readonly string[]): error is Error {
  return error instanceof Error && names.includes(error.name);
}

/** Loads a package by its name. */
type LoadPackage = (name: string) => Promise<unknown>;

// Bundlers must skip the import: it resolves at run time, where the package may be missing.
const loadInstalled: LoadPackage = (name) =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);

/**
 * Loads the exports of a provider's package.
 *
 * @param release npm package to install if it is missing, `<name>@<major>` or its name alone
 * @throws ModelConfigurationError with the install command
 */
async function loadProvider(
  spec: string,
  { name, release = name }: { name: string; release?: string },
  load: LoadPackage,
): Promise<unknown> {
  try {
    return await load(name);
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const install = `npm install ${release}`;
    const message = `MODEL is "${spec}", and its package is not installed. Run: ${install}`;
    throw new ModelConfigurationError('MODEL', message, { install, cause });
  }
}

/** A provider whose package is an optional peer of ours. */
interface KnownProvider {
  package: string;
  major: number;
  /** @throws ModelConfigurationError */
  check: (env: ModelEnvironment) => void;
  create: (provider: never, id: string, env: ModelEnvironment) => LanguageModelV4;
}

/** Providers by the prefix of `MODEL`, before its colon. */
const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
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

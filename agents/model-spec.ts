import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { wrapLanguageModel } from 'ai';
import { resolveModel } from './model.js';
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
  if (!NAME.test(name)) {
    const known = Object.keys(KNOWN).map((known) => `${known}:<id>`);
    throw new ModelConfigurationError(
      'MODEL',
      `MODEL is "${spec}"; it must be one of scripted, ${known.join(', ')}, or <name>:<id> of a package @ai-sdk/<name>.`,
    );
  }
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const { prefix = name.toUpperCase().replaceAll('-', '_'), needs, major, more } = known ?? {};
  if (needs !== undefined) requireValue(env, `${prefix}_${needs}`);
  const apiKey = env[`${prefix}_API_KEY`];
  const baseURL = readUrl(env, `${prefix}_BASE_URL`);
  const settings = { ...(apiKey && { apiKey }), ...(baseURL && { baseURL }), ...more };
  const create = factoryIn(await loadProvider(spec, { name, major }, load), prefix);
  if (create === undefined) throw noLanguageModels(spec, name);
  const modelWith = (own: object): Model => {
    const provider = create({ ...settings, ...own });
    // The chat API keeps a step's history as plain messages. OpenAI's responses API refers back to
    // stored items, which would tie a conversation to the provider's memory.
    return provider.chat === undefined ? provider.languageModel(id) : provider.chat(id);
  };
  try {
    const model = modelWith({});
    if (!SIGNS_IN.includes(name)) await expectRequest(modelWith({ fetch: sendNothing }));
    return resolveModel(model);
  } catch (cause) {
    if (isErrorOf(cause, ['AI_NoSuchModelError'])) throw noLanguageModels(spec, name, cause);
    if (!isErrorOf(cause, LACKS)) throw cause;
    const [reason = ''] = cause.message.trim().split('\n');
    const variable = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/.exec(cause.message)?.[0] ?? 'MODEL';
    throw new ModelConfigurationError(variable, `MODEL is "${spec}": ${reason}`, { cause });
  }
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

interface KnownProvider {
  /** Release line that the package's range of optional peers names. */
  major: number;
  /** Prefix of its variables. Default: its name. */
  prefix?: string;
  /** Variable that must be set. */
  needs: 'API_KEY' | 'BASE_URL';
  /** Further settings. */
  more?: object;
}

/**
 * Providers whose packages are optional peers of ours, by the prefix of `MODEL` before its colon. Key
 * and address of any other provider come from `<NAME>_API_KEY` and `<NAME>_BASE_URL` if set;
 * otherwise the package reads its own variables.
 */
const KNOWN: Readonly<Record<string, KnownProvider>> = {
  openai: { major: 4, needs: 'API_KEY' },
  anthropic: { major: 4, needs: 'API_KEY' },
  google: { major: 4, needs: 'API_KEY', prefix: 'GOOGLE_GENERATIVE_AI' },
  // Local servers accept requests without a key.
  'openai-compatible': {
    major: 3,
    needs: 'BASE_URL',
    more: { name: 'openai-compatible', includeUsage: true },
  },
};

/** Finds the factory regardless of case: `createDeepSeek` for `DEEPSEEK`. */
function factoryIn(exported: unknown, prefix: string): Create | undefined {
  const wanted = `create${prefix.replaceAll('_', '').toLowerCase()}`;
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

/** Loads the exports of a package. @throws ModelConfigurationError with the install command */
async function loadProvider(
  spec: string,
  { name, major }: { name: string; major: number | undefined },
  load: LoadPackage,
): Promise<unknown> {
  const wanted = `@ai-sdk/${name}`;
  try {
    return await load(wanted);
  } catch (cause) {
    if (!isMissing(cause, wanted)) throw cause;
    const install = `npm install ${wanted}${major === undefined ? '' : `@${String(major)}`}`;
    const message = `MODEL is "${spec}", and its package is not installed. Run: ${install}`;
    throw new ModelConfigurationError('MODEL', message, { install, cause });
  }
}

import type { LanguageModelV4 } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { isMissing } from '../../protocol/errors.js';
import { ModelConfigurationError, readUrl, type ModelEnvironment } from './configuration-error.js';

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
export function isProviderName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Creates a model of any installed package `@ai-sdk/<name>`. Key and address come from
 * `<NAME>_API_KEY` and `<NAME>_BASE_URL` if set; otherwise the package reads its own variables.
 *
 * @throws ModelConfigurationError
 */
export async function createModelOfAny(
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
export type LoadPackage = (name: string) => Promise<unknown>;

// Bundlers must skip the import: it resolves at run time, where the package may be missing.
export const loadInstalled: LoadPackage = (name) =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);

/**
 * Loads the exports of a provider's package.
 *
 * @param release npm package to install if it is missing, `<name>@<major>` or its name alone
 * @throws ModelConfigurationError with the install command
 */
export async function loadProvider(
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

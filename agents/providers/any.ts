import type { LanguageModelV4 } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import { ModelConfigurationError, readUrl, type ModelEnvironment } from './configuration-error.js';

type Model = Parameters<typeof wrapLanguageModel>[0]['model'];
type Make = (id: string) => Model;
type Create = (settings: object) => { languageModel: Make; chat?: Make };

/** Only the scope of the AI SDK: `MODEL` cannot name any other code. */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Errors of providers that lack a key or another setting, on every line of their releases. */
const LACKS = ['AI_LoadAPIKeyError', 'AI_LoadSettingError', 'GatewayAuthenticationError'];

/** Its key is a token that it asks the cloud for, over the network. */
const SIGNS_IN = ['google-vertex'];

/** True for what can be the name of a package `@ai-sdk/<name>`. */
export function isProviderName(name: string): boolean {
  return NAME.test(name);
}

/**
 * A model of any package `@ai-sdk/<name>` that the application has installed. Key and address are
 * `<NAME>_API_KEY` and `<NAME>_BASE_URL` where they are set; otherwise the package reads its own variables.
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
    // As with OpenAI itself, the history of a step is messages, and no memory of the provider's.
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

/** `createDeepSeek` of `@ai-sdk/deepseek`: companies have capitals of their own. */
function factoryIn(exported: unknown, name: string): Create | undefined {
  const wanted = `create${name.replaceAll('-', '')}`;
  const found = Object.entries(exported ?? {}).find(([key]) => key.toLowerCase() === wanted);
  return typeof found?.[1] === 'function' ? (found[1] as Create) : undefined;
}

const sendNothing = (): Promise<never> => Promise.reject(new Error('Not sent.'));

/**
 * Providers look for their key once they are asked. So a model whose requests are not sent is asked: what
 * it lacks is known at the start rather than in people's first runs.
 *
 * @throws the provider's error, if it lacks something
 */
async function expectRequest(model: Model): Promise<void> {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
  try {
    // Aborted, for packages that send by other means than the fetch they are given.
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

// Bundlers leave it alone: it is looked up where the application runs, which need not have the package.
export const loadInstalled: LoadPackage = (name) =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name);

/**
 * The exports of a provider's package.
 *
 * @param release what npm installs if the package is missing, `<name>@<major>` or its name alone
 * @throws ModelConfigurationError with the command that installs it
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

/** True if the package is not there, as opposed to one that it needs itself. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && error.message.includes(`'${name}'`);
}

import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  createModelOfAny,
  isProviderName,
  loadInstalled,
  loadProvider,
  type LoadPackage,
} from './providers/any.js';
import { ModelConfigurationError, type ModelEnvironment } from './providers/configuration-error.js';
import { KNOWN_PROVIDERS } from './providers/known.js';
import { createScriptedModel } from './scripted/scripted-model.js';

/**
 * The model that `MODEL` names: `<provider>:<id>` with provider `openai`, `anthropic`, `google`,
 * `openai-compatible` or any other that has a package `@ai-sdk/<provider>`, which the application
 * installs; `scripted`, empty or undefined for the model that needs no key.
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

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

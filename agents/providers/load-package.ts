import { ModelConfigurationError } from './configuration-error.js';

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

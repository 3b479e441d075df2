import { HelixError } from './errors.js';

/** A feature needs packages that are not installed; the message has the command that installs them. */
export class MissingPackageError extends HelixError {
  override readonly name = 'MissingPackageError';

  constructor(feature: string, releases: string, cause: unknown) {
    const text = `${feature} needs a package that is not installed: npm install ${releases}`;
    super('unavailable', text, { cause });
  }
}

/**
 * Returns a handler for a failed import of `releases`, as in `jose@6`, which throws what it got
 * unless a package itself is missing. @throws MissingPackageError
 */
export function orMissing(feature: string, releases: string): (error: unknown) => never {
  return (error) => {
    const names = releases.split(' ').map((release) => release.replace(/(?<=.)@.*/, ''));
    if (!names.some((name) => isMissing(error, name))) throw error;
    throw new MissingPackageError(feature, releases, error);
  };
}

/** Returns true if the package itself is missing, and not one of its dependencies. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  const isNotFound = error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND';
  return isNotFound && (error.message.includes(`'${name}'`) || error.message.includes(`'${name}/`));
}

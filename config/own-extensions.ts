import { resolve } from 'node:path';
import { ConfigError } from './env.js';

/**
 * Loads a person's own extensions from the file that `EXTENSIONS` names, TypeScript or JavaScript: what it exports, one by
 * one or in lists.
 *
 * @throws ConfigError if the file cannot be loaded or has none
 */
export async function loadExtensions<E extends { readonly name: string }>(
  path: string | undefined,
): Promise<E[]> {
  if (path === undefined) return [];
  const { createJiti } = await import('jiti');
  // A module that both sides import is one module: packages are left to Node.
  const jiti = createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  const loaded = await jiti.import<object>(resolve(path)).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new ConfigError(`Bad configuration: EXTENSIONS cannot be loaded: ${reason ?? ''}`);
  });
  const values = new Set(Object.values(loaded).flat());
  const found = [...values].filter((value): value is E => isNamed(value));
  if (found.length === 0) {
    throw new ConfigError(`Bad configuration: EXTENSIONS: ${path} exports no extension.`);
  }
  return found;
}

function isNamed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'name' in value;
}

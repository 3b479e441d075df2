import type * as jose from 'jose';
import { orMissing } from '../../protocol/errors.js';

/**
 * Loads `jose`. This function is outside of the entry, whose declarations must not name a package
 * that may be missing.
 *
 * @throws MissingPackageError
 */
export const loadJose = (): Promise<typeof jose> =>
  import('jose').catch(orMissing('A signed token', 'jose@6'));

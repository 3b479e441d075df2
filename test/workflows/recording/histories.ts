import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Where the histories of releases are kept, one file each: `v<version>-<what happened>.json`. */
export const historiesFolder = fileURLToPath(new URL('../histories/', import.meta.url));

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };
export const thisVersion = version;

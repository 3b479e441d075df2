import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { installClients } from '../../scripts/clients/client-versions.mjs';

const require = createRequire(import.meta.url);

/** A pair of `ai` and `@ai-sdk/react` versions. */
export interface Client {
  /** For example `ai 6.0.198`. */
  readonly name: string;
  readonly ai: string;
  /** Module that exports a page's `ai`, `aiReact`, `React` and `ReactDomClient` in that version. */
  readonly entry: string;
  /** Specifier that replaces `@ai-sdk/react` at the entry. */
  readonly aiReact: string;
}

/** `npm run matrix -- --all` tests every version, `npm test` only the newest of each major. */
export const PLAYS_ALL = process.env['CLIENT_VERSIONS'] === 'all';

/** Oldest first. */
export const clients: readonly Client[] = PLAYS_ALL
  ? (await installClients()).map(({ name, ai, entry, reason }) => {
      if (entry === undefined) throw new Error(`${name} cannot be had: ${reason}`);
      return { name, ai, entry, aiReact: '@ai-sdk/react' };
    })
  : [own('ai-v6', 'ai-sdk-react-v6', 'own-6.mjs'), own('ai', '@ai-sdk/react', 'own-7.mjs')];

/** Returns a client from this project's packages, which need no installation. */
function own(ai: string, aiReact: string, file: string): Client {
  const version = versionOf(ai);
  const entry = fileURLToPath(new URL(`page/${file}`, import.meta.url));
  return { name: `ai ${version}`, ai: version, entry, aiReact };
}

function versionOf(name: string): string {
  const { version } = require(`${name}/package.json`) as { version: string };
  return version;
}

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { installClients } from '../../scripts/clients/client-versions.mjs';

const require = createRequire(import.meta.url);

/** A pair of `ai` and `@ai-sdk/react` of one version. */
export interface Client {
  /** `ai 6.0.198`, for example. */
  readonly name: string;
  readonly ai: string;
  /** Module to import: `ai`, `aiReact`, `React` and `ReactDomClient` as a page of that version has them. */
  readonly entry: string;
  /** What stands for `@ai-sdk/react` where the entry is. */
  readonly aiReact: string;
}

/** `npm run matrix -- --all` plays every version, `npm test` the newest of each major. */
export const PLAYS_ALL = process.env['CLIENT_VERSIONS'] === 'all';

/** Oldest first. */
export const clients: readonly Client[] = PLAYS_ALL
  ? (await installClients()).map(({ name, ai, entry, reason }) => {
      if (entry === undefined) throw new Error(`${name} cannot be had: ${reason}`);
      return { name, ai, entry, aiReact: '@ai-sdk/react' };
    })
  : [own('ai-v6', 'ai-sdk-react-v6', 'own-6.mjs'), own('ai', '@ai-sdk/react', 'own-7.mjs')];

/** From the packages of this project, so that nothing is installed. */
function own(ai: string, aiReact: string, file: string): Client {
  const version = versionOf(ai);
  const entry = fileURLToPath(new URL(`page/${file}`, import.meta.url));
  return { name: `ai ${version}`, ai: version, entry, aiReact };
}

function versionOf(name: string): string {
  const { version } = require(`${name}/package.json`) as { version: string };
  return version;
}

// This package's browser side on an app's own peer dependencies.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const HOOKS = new URL('peers-of-app.mjs', import.meta.url);
const DIST = new URL('../../../dist/ai-sdk/', import.meta.url);

export async function loadOwnPackages(entry, aiReact) {
  register(HOOKS, { data: { dist: DIST.href, app: pathToFileURL(entry).href, aiReact } });
  const [client, react] = await Promise.all(
    ['client', 'react'].map((name) => import(new URL(`${name}/index.js`, DIST).href)),
  );
  return { ...client, ...react };
}

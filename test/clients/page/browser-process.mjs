// Pages of one client version, driven over IPC: `node browser-process.mjs <entry> <module>`, where
// the module replaces `@ai-sdk/react`.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Window } from 'happy-dom';
import { createPage } from './page.mjs';
import { createCookieJar } from './wire.mjs';

// React looks for these globals when it is loaded.
const window = new Window({ url: 'http://page.test/' });
globalThis.window = window;
globalThis.document = window.document;
// In newer versions of Node, `navigator` cannot be assigned.
Object.defineProperty(globalThis, 'navigator', { value: window.navigator, configurable: true });

const [, , entry, aiReact] = process.argv;
const client = await import(entry);
const own = await loadOwnPackages(entry, aiReact);
const chunkSchema = client.ai.uiMessageChunkSchema();
const pages = new Map();
const jars = new Map();

/** Loads this package's browser side on an app's own peer dependencies. */
async function loadOwnPackages(entry, aiReact) {
  const dist = new URL('../../../dist/ai-sdk/', import.meta.url).href;
  const hooks = new URL('peers-of-app.mjs', import.meta.url);
  register(hooks, { data: { dist, app: pathToFileURL(entry).href, aiReact } });
  const [client, react] = await Promise.all(
    ['client', 'react'].map((name) => import(new URL(`${name}/index.js`, dist).href)),
  );
  return { ...client, ...react };
}

const commands = {
  open: ({ page, sessionId, ...options }) => {
    // Tabs of one browser share cookies; here all pages of one conversation do.
    const jar = jars.get(sessionId) ?? createCookieJar(options.kit !== 'no-cookies');
    jars.set(sessionId, jar);
    const tell = (view) => process.send({ page, view });
    pages.set(page, createPage({ client, own, sessionId, jar, tell, ...options }));
  },
  /** Returns the complaints of this version's schema about parts. */
  validate: async ({ parts }) => {
    const complaints = [];
    for (const part of parts) {
      const result = await chunkSchema.validate(part);
      if (!result.success) complaints.push(`${JSON.stringify(part)}: ${result.error.message}`);
    }
    return complaints;
  },
};

async function perform({ command, page, args }) {
  if (command in commands) return commands[command]({ page, ...args[0] });
  const open = pages.get(page);
  const result = await open[command](...args);
  // The test gets the new view before the command's result.
  process.send({ page, view: open.look() });
  return result;
}

process.on('message', async ({ id, ...asked }) => {
  try {
    process.send({ id, result: (await perform(asked)) ?? null });
  } catch (error) {
    process.send({
      id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  }
});
process.on('disconnect', () => process.exit());
process.send({ isUp: true });

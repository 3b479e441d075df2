// Installs many versions of the chat clients for the tests: `ai` and `@ai-sdk/react` with React, each pair in
// its own cache folder.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideFolder } from '../system/file-lock.mjs';
import { readJson, writeAtomically } from '../system/files.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder, projectRoot } from '../system/project.mjs';
import { npm, npmInstall, RegistryError } from './npm.mjs';

// Finds the newest version of each major.
const DAY_MS = 24 * 3_600_000;

/**
 * Returns the newest pair of each major from the registry, which is queried once a day. Without the registry
 * the last list counts; without a list, the project's pinned pairs.
 */
export async function findNewest({ file, pinned, ask = askRegistry, now = Date.now() }) {
  const known = readJson(file);
  if (known !== undefined && now - known.askedAt < DAY_MS) return known.pairs;
  try {
    const pairs = await ask();
    writeAtomically(file, JSON.stringify({ askedAt: now, pairs }));
    return pairs;
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return known?.pairs ?? pinned;
  }
}

async function askRegistry() {
  const [ai6, react3, ai7, react4] = await Promise.all(
    ['ai@^6', '@ai-sdk/react@^3', 'ai@^7', '@ai-sdk/react@^4'].map(askForNewest),
  );
  return [
    { ai: ai6, react: react3 },
    { ai: ai7, react: react4 },
  ];
}

async function askForNewest(range) {
  const versions = [JSON.parse(await npm(['view', range, 'version', '--json']))].flat();
  return versions.reduce((best, version) => (isNewer(version, best) ? version : best));
}

/** Compares versions: the registry sorts by date, and fixes of older lines come later. */
export function isNewer(version, other) {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number));
  const at = a.findIndex((number, index) => number !== b[index]);
  return at !== -1 && a[at] > b[at];
}

/** Oldest first; the newest pair of each major follows the others of that major. */
const FIXED = [
  { ai: '6.0.0', react: '3.0.0' },
  { ai: '6.0.198', react: '3.0.200' },
  { ai: '6.0.253', react: '3.0.255' },
  { ai: '7.0.0', react: '4.0.0' },
  { ai: '7.0.58', react: '4.0.61' },
  { ai: '7.0.117', react: '4.0.120' },
];
// Increment this when the contents of a folder change.
const LAYOUT = 1;

/** The module that tests import: everything that a page of that version has. */
const ENTRY = `export * as ai from 'ai';
export * as aiReact from '@ai-sdk/react';
export * as React from 'react';
export * as ReactDom from 'react-dom';
export * as ReactDomClient from 'react-dom/client';
`;

/**
 * Installs missing versions one after the other and returns their places: `entry` is the module to import, or
 * `reason` says why there is none, which is also printed. Several processes may run this at once. `install`
 * is a parameter for tests.
 */
export async function installClients({
  env = process.env,
  install = installWithNpm,
  ask,
  stream = process.stderr,
} = {}) {
  const folder = join(cacheFolder(env), 'clients');
  const pairs = await listPairs(folder, ask);
  let unreachable;
  const clients = [];
  for (const pair of pairs) {
    const name = `ai ${pair.ai}`;
    const target = join(folder, `ai-${pair.ai}-react-${pair.react}-v${LAYOUT}`);
    // After one time-out the registry counts as unreachable for the other versions as well.
    unreachable ??= await provide(target, pair, install);
    const isThere = existsSync(target);
    if (!isThere) stream.write(`${name} is left out of the tests: ${unreachable}\n`);
    clients.push({
      name,
      ...pair,
      ...(isThere ? { entry: join(target, 'entry.mjs') } : { reason: unreachable }),
    });
  }
  return clients;
}

async function listPairs(folder, ask) {
  const file = join(folder, 'newest.json');
  const newest = await findNewest({ file, pinned: pinnedPairs(), ...(ask && { ask }) });
  const pairs = [...FIXED];
  for (const pair of newest) {
    const major = pair.ai.split('.')[0];
    if (pairs.some(({ ai, react }) => ai === pair.ai && react === pair.react)) continue;
    pairs.splice(pairs.findLastIndex(({ ai }) => ai.startsWith(`${major}.`)) + 1, 0, pair);
  }
  return pairs;
}

/** Returns the pairs that the project's own tests and page use. */
function pinnedPairs() {
  return [
    ['ai-v6', 'ai-sdk-react-v6'],
    ['ai', '@ai-sdk/react'],
  ].map(([ai, react]) => ({ ai: installedVersion(ai), react: installedVersion(react) }));
}

function installedVersion(name) {
  const file = join(projectRoot, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

/** Fills the folder; returns the reason if the registry could not provide it. */
async function provide(target, { ai, react }, install) {
  try {
    await provideFolder(target, (part) =>
      withProgress(`Installing the chat client ai ${ai}`, async () => {
        writeFileSync(join(part, 'package.json'), '{ "private": true, "type": "module" }\n');
        writeFileSync(join(part, 'entry.mjs'), ENTRY);
        await install(part, [
          `ai@${ai}`,
          `@ai-sdk/react@${react}`,
          ...['react', 'react-dom', 'zod'].map((name) => `${name}@${installedVersion(name)}`),
        ]);
      }),
    );
    return undefined;
  } catch (error) {
    if (error instanceof RegistryError) return error.message;
    throw error;
  }
}

/** Installs them as an app would, with the copies of `ai` that the versions pin. */
function installWithNpm(folder, packages) {
  return npmInstall(packages, { cwd: folder });
}

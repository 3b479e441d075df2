// Real chat clients of many versions, for the tests: `ai` and `@ai-sdk/react` with React, each pair in
// a folder of its own in the cache.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { provideFolder } from '../system/file-lock.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder, projectRoot } from '../system/project.mjs';
import { npm, npmInstall, RegistryError } from './npm.mjs';

// Which versions of the chat clients are the newest of their major.
const DAY_MS = 24 * 3_600_000;

/**
 * The newest pair of each major, as the registry lists it, queried once a day. The last list
 * is used while the registry cannot be reached; before the first, the pairs that the
 * project itself is pinned to.
 */
export async function findNewest({ file, pinned, ask = askRegistry, now = Date.now() }) {
  const known = readKnown(file);
  if (known !== undefined && now - known.askedAt < DAY_MS) return known.pairs;
  try {
    const pairs = await ask();
    writeWhole(file, JSON.stringify({ askedAt: now, pairs }));
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

/** The registry lists releases by date, and fixes of older lines come later. */
export function isNewer(version, other) {
  const [a, b] = [version, other].map((text) => text.split('.').map(Number));
  const at = a.findIndex((number, index) => number !== b[index]);
  return at !== -1 && a[at] > b[at];
}

function readKnown(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Readers never see half of the file. */
function writeWhole(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const part = `${file}.${process.pid}`;
  writeFileSync(part, text);
  renameSync(part, file);
}

/** Oldest first; the newest pair of each major comes in after the others of that major. */
const FIXED = [
  { ai: '6.0.0', react: '3.0.0' },
  { ai: '6.0.198', react: '3.0.200' },
  { ai: '6.0.253', react: '3.0.255' },
  { ai: '7.0.0', react: '4.0.0' },
  { ai: '7.0.58', react: '4.0.61' },
  { ai: '7.0.117', react: '4.0.120' },
];
// Counted up when what stands in a folder changes.
const LAYOUT = 1;

/** What a test imports: everything that a page of that version would have. */
const ENTRY = `export * as ai from 'ai';
export * as aiReact from '@ai-sdk/react';
export * as React from 'react';
export * as ReactDom from 'react-dom';
export * as ReactDomClient from 'react-dom/client';
`;

/**
 * Installs what is missing, one version after the other, and says where each is: `entry` is the
 * module to import, or `reason` says why it cannot be had, which is printed as well. Several
 * processes may ask at the same time. `install` is a parameter for tests of this module.
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
    // Who waited in vain once does not wait for each of the others.
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

/** The pairs that the project's own tests and page use. */
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

/** Undefined if the folder is there, else why the registry could not fill it. */
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

/** As an app would have them, with the copies of `ai` that the versions' own pins bring. */
function installWithNpm(folder, packages) {
  return npmInstall(packages, { cwd: folder });
}

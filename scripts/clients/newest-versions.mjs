// Which versions of the chat clients are the newest of their major.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { npm, RegistryError } from './npm.mjs';

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

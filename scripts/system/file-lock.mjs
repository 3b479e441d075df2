// Locks between processes: a file names the holder, so that a dead holder's lock can be taken over.
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readJson } from './files.mjs';
import { identityOf, isSameProcess } from './process-identity.mjs';

const POLL_MS = 100;
const FORGOTTEN_GUARD_MS = 10_000;
let ticket = 0;

/**
 * Takes the lock: returns `{ release }`, or the `{ holder }`. If a holder died without a release, the next
 * caller takes over.
 */
export function tryLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  const mine = `${path}.${process.pid}.${(ticket += 1)}`;
  writeFileSync(mine, JSON.stringify(identityOf(process.pid)));
  try {
    for (;;) {
      // A hard link appears complete or not at all, so no process reads a half-written lock.
      if (tryLink(mine, path)) return { release: () => rmSync(path, { force: true }) };
      const holder = readJson(path);
      if (holder && isSameProcess(holder)) return { holder };
      if (!removeStale(path)) return { holder: holder ?? {} };
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Does the work under the lock. `onWait` is called once if another process holds it. */
export async function withLock(path, work, { onWait } = {}) {
  let lock = tryLock(path);
  if (!lock.release) onWait?.(lock.holder);
  while (!lock.release) {
    await delay(POLL_MS);
    lock = tryLock(path);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Creates a folder that all clones on this machine share. It is renamed into place when complete, so an
 * unfinished one is never used.
 */
export async function provideFolder(target, fill) {
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  await withLock(`${target}.lock`, async () => {
    if (existsSync(target)) return;
    const start = `${basename(target)}.part-`;
    // Under the lock, leftovers can only come from a dead process.
    for (const name of readdirSync(dirname(target))) {
      const left = join(dirname(target), name);
      if (name.startsWith(start)) rmSync(left, { recursive: true, force: true });
    }
    const part = mkdtempSync(join(dirname(target), start));
    try {
      await fill(part);
      renameSync(part, target);
    } finally {
      rmSync(part, { recursive: true, force: true });
    }
  });
}

/**
 * Removal has a guard and checks again under it: of two processes that find a stale lock, the slower one must
 * not remove the faster one's new lock.
 */
function removeStale(path) {
  const guard = `${path}.takeover`;
  if (!tryDirectory(guard)) {
    removeForgotten(guard);
    return false;
  }
  try {
    const holder = readJson(path);
    if (!holder || !isSameProcess(holder)) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(guard, { recursive: true, force: true });
  }
}

/** A guard lives for microseconds; an old one belongs to a process that died holding it. */
function removeForgotten(guard) {
  const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > FORGOTTEN_GUARD_MS) rmSync(guard, { recursive: true, force: true });
}

function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function tryDirectory(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

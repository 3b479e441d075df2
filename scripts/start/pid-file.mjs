// Remembers an engine on disk, so that one which outlived its supervisor is found and stopped: two
// servers on one data folder would destroy it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf, isSameProcess } from '../system/process-identity.mjs';

const GRACE_MS = 10_000;
const POLL_MS = 50;

export function writePidFile(path, pid) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(identityOf(pid)));
}

export function removePidFile(path) {
  rmSync(path, { force: true });
}

/** Stops the process of this file if its id was not reused. Returns whether it ran. */
export async function stopLeftOver(path) {
  const left = read(path);
  if (!left || !isSameProcess(left)) {
    removePidFile(path);
    return false;
  }
  process.kill(left.pid, 'SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  while (isSameProcess(left)) {
    if (Date.now() > deadline) process.kill(left.pid, 'SIGKILL');
    await delay(POLL_MS);
  }
  removePidFile(path);
  return true;
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

// The data folder holds conversations: no other user of this machine may read it.
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['redis', 'logs'];
const FILES = /^temporal\.db/;

/**
 * Makes the folder, for this user alone. Of one that was there already only what is ours is closed:
 * the folder may hold other things as well.
 */
export function makePrivateFolder(dataDir) {
  if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const name of FOLDERS) {
    const folder = join(dataDir, name);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o700);
  }
  for (const name of readdirSync(dataDir)) {
    if (FILES.test(name)) chmodSync(join(dataDir, name), 0o600);
  }
}

/** Runs a start whose program creates files that only this user can read. */
export function withPrivateFiles(start) {
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

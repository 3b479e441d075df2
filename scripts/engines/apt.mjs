// Installs a Debian package if that needs no password.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { findOnPath, lastLines, runCommand } from '../system/run-command.mjs';

const POLICY_FILE = '/usr/sbin/policy-rc.d';
const POLICY =
  '#!/bin/sh\n# helix-temporal: no service starts while a package is installed\nexit 101\n';
const OPTIONS = ['-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function canInstallWithApt(env = process.env) {
  return process.getuid?.() === 0 && findOnPath(['apt-get'], env) !== undefined;
}

/** Throws with apt's last lines of output. Fetches the package lists first if there are none. */
export async function installWithApt(packages) {
  await withServicesOff(async () => {
    let outcome = await aptGet(['install', ...OPTIONS, ...packages]);
    if (outcome.code !== 0) {
      await aptGet(['update', '-q']);
      outcome = await aptGet(['install', ...OPTIONS, ...packages]);
    }
    if (outcome.code !== 0) throw new Error(`apt-get install: ${lastLines(outcome.stderr, 2)}`);
  });
}

function aptGet(args) {
  return runCommand('apt-get', args, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/**
 * Keeps Debian from starting the package's service: a temporary policy file refuses every start. An existing
 * policy file stays, and ours is always removed, because it would block services of other packages.
 */
async function withServicesOff(work) {
  if (existsSync(POLICY_FILE) && readFileSync(POLICY_FILE, 'utf8') !== POLICY) return work();
  writeFileSync(POLICY_FILE, POLICY, { mode: 0o755 });
  const remove = () => rmSync(POLICY_FILE, { force: true });
  const interrupted = (signal) => {
    remove();
    for (const each of SIGNALS) process.off(each, interrupted);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, interrupted);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupted);
    remove();
  }
}

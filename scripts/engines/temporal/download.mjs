// The download that @temporalio/testing does, but into a cache that outlives the temp folder, and
// checked before anything of it runs.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { lastLines, runCommand } from '../../system/run-command.mjs';
import { ARCHIVE_CHECKSUMS } from './checksums.mjs';

const SERVICE = 'https://temporal.download/cli';
// Without internet this fails within seconds, not after the system's own time-out.
const ANSWER_MS = 5000;
const STALL_MS = 15_000;
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/** `service` and `checksums` are parameters so that a test can stand in for them. */
export async function downloadTemporal({
  service = SERVICE,
  checksums = ARCHIVE_CHECKSUMS,
  target,
  version,
  isTemporal,
  progress,
}) {
  const architecture = ARCHITECTURES[process.arch];
  if (!architecture) throw new Error(`no download for ${process.arch}`);
  const checksum = checksums[version]?.[`${process.platform}-${process.arch}`];
  if (!checksum) throw new Error(`no checksum is known for ${version} on ${process.platform}`);
  const query = new URLSearchParams({
    arch: architecture,
    platform: process.platform,
    format: 'tar.gz',
  });
  const { archiveUrl, fileToExtract } = await askForArchive(`${service}/v${version}?${query}`);

  const folder = await mkdtemp(join(dirname(target), 'download-'));
  try {
    const archive = join(folder, 'archive.tar.gz');
    const found = await fetchTo(archive, archiveUrl, progress);
    if (found !== checksum)
      throw new Error(`the archive has another checksum than it should: ${found}`);
    const unpacked = await runCommand('tar', ['-xzf', archive, '-C', folder]);
    if (unpacked.code !== 0) throw new Error(`unpacking failed: ${lastLines(unpacked.stderr, 1)}`);
    const binary = join(folder, basename(fileToExtract));
    if (!(await isTemporal(binary))) throw new Error('the downloaded program does not run here');
    await rename(binary, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function askForArchive(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => {
    throw new Error('temporal.download cannot be reached');
  });
  if (!response.ok) throw new Error(`temporal.download answered ${response.status}`);
  return response.json();
}

/**
 * Returns the SHA-256 of the download. Only a stalled download fails: a slow
 * line may take as long as it needs.
 */
async function fetchTo(file, url, progress) {
  const stalled = new AbortController();
  let timer = setTimeout(() => stalled.abort(), STALL_MS);
  const hash = createHash('sha256');
  let received = 0;
  try {
    const response = await fetch(url, { signal: stalled.signal });
    if (!response.ok) throw new Error(`the archive server answered ${response.status}`);
    const body = Readable.fromWeb(response.body);
    body.on('data', (bytes) => {
      received += bytes.length;
      hash.update(bytes);
      progress.update(`${Math.round(received / 1e6)} MB`);
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), STALL_MS);
    });
    await pipeline(body, createWriteStream(file));
    return hash.digest('hex');
  } catch (error) {
    throw stalled.signal.aborted ? new Error('the download stood still') : error;
  } finally {
    clearTimeout(timer);
  }
}

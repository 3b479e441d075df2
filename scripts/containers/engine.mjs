// Finds a Docker engine with Compose: the running one, or, for root on Debian, a private one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canInstallWithApt, installWithApt } from '../engines/apt.mjs';
import { findGoProgram } from '../engines/go-program.mjs';
import { waitUntil } from '../start/reachable.mjs';
import { tryLock } from '../system/file-lock.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder, UserError } from '../system/project.mjs';
import { findOnPath, lastLines, runCommand } from '../system/run-command.mjs';

/** Path of Docker's Compose plugin, if any. */
const PLUGIN = '{{range .ClientInfo.Plugins}}{{if eq .Name "compose"}}{{.Path}}{{end}}{{end}}';
const COMPOSE = {
  name: 'docker-compose',
  module: 'github.com/docker/compose/v2',
  version: 'v2.39.4',
  build: buildCompose,
};

/**
 * Finds Docker Compose next to Docker or in the cache, or builds it once. Returns `{ path, home }`, where
 * `home` is the DOCKER_CONFIG folder in which Docker finds the plugin (undefined: the default one), or `{
 * reason }`.
 */
export async function findCompose(env = process.env) {
  const beside = await runCommand('docker', ['info', '-f', PLUGIN], { env });
  const installed = beside.stdout.trim();
  if (installed && (await runCommand(installed, ['version'])).code === 0) {
    return { path: installed };
  }
  const home = join(cacheFolder(env), `compose-${COMPOSE.version}`);
  return { home, ...(await findGoProgram({ ...COMPOSE, folder: join(home, 'cli-plugins') }, env)) };
}

/** Builds in the module's own folder, since `go install` refuses a module with `exclude`. */
async function buildCompose(go, { name, module, version, folder }, env) {
  const found = await runCommand(go, ['mod', 'download', '-json', `${module}@${version}`], { env });
  if (found.code !== 0) return found;
  const stamp = `-s -w -X ${module}/internal.Version=${version}`;
  const output = join(folder, name);
  return runCommand(go, ['build', '-trimpath', '-ldflags', stamp, '-o', output, './cmd'], {
    cwd: JSON.parse(found.stdout).Dir,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' },
  });
}

const UP_WITHIN_MS = 60_000;
/** Removes the leftovers of an interrupted rehearsal. */
const CLEAR =
  'docker ps -aq | xargs -r docker rm -f; docker volume ls -q | xargs -r docker volume rm; docker network prune -f';

/**
 * @param ends collects functions that close what was opened
 * @returns `{ env, isOwn }`: the environment for `docker`; `isOwn` is true if the engine was started here
 */
export async function openEngine(ends) {
  const runs = (await runCommand('docker', ['info'])).code === 0;
  const engine = runs ? { env: process.env, isOwn: false } : await startOwn(ends);
  const { path, home, reason } = await findCompose(engine.env);
  if (!path) throw new UserError(`${reason}.`);
  return { ...engine, env: { ...engine.env, ...(home && { DOCKER_CONFIG: home }) } };
}

/** Images stay in the cache folder; everything else is deleted on close. */
async function startOwn(ends) {
  const found = () => findOnPath(['dockerd'], { PATH: `${process.env.PATH}:/usr/sbin` });
  if (!found() && canInstallWithApt()) {
    await withProgress('Installing Docker with apt', () => installWithApt(['docker.io']));
    // The package also enables an unwanted service at boot.
    if (findOnPath(['systemctl'])) {
      await runCommand('systemctl', ['disable', '--now', 'docker.socket', 'docker']);
    }
  }
  const dockerd = found();
  if (!dockerd || process.getuid?.() !== 0) {
    throw new UserError(
      'No Docker engine runs here, and only root on Debian gets one: start yours.',
    );
  }
  const data = join(cacheFolder(), 'docker');
  mkdirSync(data, { recursive: true });
  const { release } = tryLock(`${data}.lock`);
  if (!release) throw new UserError('Another rehearsal uses the engine in the cache folder.');
  const folder = mkdtempSync(join(tmpdir(), 'helix-docker-'));
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const args = [
    '--data-root',
    data,
    '--exec-root',
    join(folder, 'exec'),
    '--pidfile',
    join(folder, 'pid'),
    // Containers get networks of their own; image builds use the host's network.
    '-H',
    socket,
    '--bridge',
    'none',
  ];
  const child = spawn(dockerd, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (printed = (printed + text).slice(-4_000)));
  ends.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    // dockerd leaves a mount of the host's network there.
    await runCommand('umount', [join(folder, 'exec', 'netns', 'default')]);
    rmSync(folder, { recursive: true, force: true });
    release();
  });
  const env = { ...process.env, DOCKER_HOST: socket, DOCKER_BUILDKIT: '0' };
  const answers = async () => (await runCommand('docker', ['info'], { env })).code === 0;
  const isUp = await waitUntil(async () => child.exitCode !== null || (await answers()), {
    withinMs: UP_WITHIN_MS,
  });
  if (!isUp || child.exitCode !== null) {
    throw new UserError(`dockerd did not start:\n${lastLines(printed, 5)}`);
  }
  await runCommand('sh', ['-c', CLEAR], { env });
  return { env, isOwn: true };
}

// A Docker engine with Compose: the one that runs here, or, for root on Debian, one of this project's own.
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

/** Where Docker has its plugin, if any. */
const PLUGIN = '{{range .ClientInfo.Plugins}}{{if eq .Name "compose"}}{{.Path}}{{end}}{{end}}';
const COMPOSE = {
  name: 'docker-compose',
  module: 'github.com/docker/compose/v2',
  version: 'v2.39.4',
  build: buildCompose,
};

/**
 * Docker Compose, beside Docker, in the cache, or built once: `{ path, home }`, the program, and the folder in
 * which Docker finds it as its plugin, as DOCKER_CONFIG (undefined: where it looks anyway); or `{ reason }` why
 * this machine cannot have it.
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

/** In the module's own folder, since `go install` refuses a module that excludes others. */
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
/** What a rehearsal that was cut off has left. */
const CLEAR =
  'docker ps -aq | xargs -r docker rm -f; docker volume ls -q | xargs -r docker volume rm; docker network prune -f';

/**
 * @param ends takes what closes it, as soon as there is something to close
 * @returns `{ env, isOwn }`: the environment for `docker`, and whether the engine was started here
 */
export async function openEngine(ends) {
  const runs = (await runCommand('docker', ['info'])).code === 0;
  const engine = runs ? { env: process.env, isOwn: false } : await startOwn(ends);
  const { path, home, reason } = await findCompose(engine.env);
  if (!path) throw new UserError(`${reason}.`);
  return { ...engine, env: { ...engine.env, ...(home && { DOCKER_CONFIG: home }) } };
}

/** Its images stay in the cache folder; the rest of it goes when it is closed. */
async function startOwn(ends) {
  const found = () => findOnPath(['dockerd'], { PATH: `${process.env.PATH}:/usr/sbin` });
  if (!found() && canInstallWithApt()) {
    await withProgress('Installing Docker with apt', () => installWithApt(['docker.io']));
    // The package also enables a service at boot, which is not wanted here.
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
    ...['--data-root', data, '--exec-root', join(folder, 'exec'), '--pidfile', join(folder, 'pid')],
    // Containers have networks of their own, and images are built in the host's.
    ...['-H', socket, '--bridge', 'none'],
  ];
  const child = spawn(dockerd, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (printed = (printed + text).slice(-4_000)));
  ends.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    // dockerd leaves its mount of the host's network there.
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

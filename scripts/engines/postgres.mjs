// Finds PostgreSQL and runs it as the database of a Temporal server.
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, outputOf, runCommand } from '../system/run-command.mjs';
import { withProgress } from '../system/progress.mjs';
import { UserError } from '../system/project.mjs';
import { canInstallWithApt, installWithApt } from './apt.mjs';
import { createEngine } from './engine-process.mjs';

/** Debian's folder of programs by major version; only clients are on the PATH. */
const DEBIAN = '/usr/lib/postgresql';
const PROGRAMS = ['initdb', 'postgres', 'pg_isready'];
/** Debian's user for the server, because PostgreSQL refuses to run as root. */
const UNPRIVILEGED = 'postgres';
export const POSTGRES_USER = 'temporal';

/** @returns the folder of the programs */
export async function findPostgres({
  env = process.env,
  canInstall = canInstallWithApt,
  install = () => installWithApt(['postgresql']),
} = {}) {
  const found = findFolder(env);
  if (found) return found;
  if (canInstall(env)) {
    await withProgress('Installing PostgreSQL with apt', install);
    const installed = findFolder(env);
    if (installed) return installed;
  }
  throw new UserError('No PostgreSQL server was found: install one, with initdb on the PATH.');
}

function findFolder(env) {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const folders = newestFirst.map((version) => join(DEBIAN, version, 'bin'));
  return [...folders, ...(env.PATH ?? '').split(':')].find((folder) =>
    PROGRAMS.every((name) => findOnPath([name], { PATH: folder })),
  );
}

/**
 * Creates a database in the folder and starts it on loopback, without fsync: a killed process still loses
 * nothing that it wrote.
 *
 * @param keep called with each engine before it runs
 */
export async function startPostgres({ programs, folder, port, keep }) {
  mkdirSync(folder, { recursive: true });
  const user = await userToRunAs();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  await outputOf(
    join(programs, 'initdb'),
    ['-D', data, '-U', POSTGRES_USER, '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { cwd: folder, ...user },
  );
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    fsync: 'off',
  };
  const engine = createEngine({
    name: 'postgres',
    file: join(programs, 'postgres'),
    args: [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    isReady: async () => {
      const args = ['-q', '-h', '127.0.0.1', '-p', String(port), '-U', POSTGRES_USER];
      return (await runCommand(join(programs, 'pg_isready'), args)).code === 0;
    },
    folder,
    // SIGINT ends the server without waiting for its clients.
    stopSignal: 'SIGINT',
    options: { cwd: folder, ...user },
  });
  keep(engine);
  await engine.restart();
  return Object.assign(engine, { port });
}

/** Returns undefined unless this process runs as root. */
async function userToRunAs() {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map((flag) => runCommand('id', [flag, UNPRIVILEGED])),
  );
  if (uid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  throw new UserError(`PostgreSQL does not run as root, and there is no user ${UNPRIVILEGED}.`);
}

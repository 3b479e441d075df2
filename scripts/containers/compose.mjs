// Finds Docker Compose: beside Docker, in the cache, or built from its Go module once.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../engines/cache-folder.mjs';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';

const MODULE = 'github.com/docker/compose/v2';
const VERSION = 'v2.39.4';

/**
 * `{ path, home }`: the program, and the folder in which Docker finds it as its plugin, as DOCKER_CONFIG
 * (undefined: where it looks anyway); or `{ reason }` why this machine cannot have it.
 */
export async function findCompose(env = process.env) {
  const beside = await runCommand('docker', ['info', '-f', PLUGIN], { env });
  const installed = beside.stdout.trim();
  if (installed && (await runCommand(installed, ['version'])).code === 0) {
    return { path: installed };
  }
  const home = join(cacheFolder(env), `compose-${VERSION}`);
  const path = join(home, 'cli-plugins', 'docker-compose');
  const isBuilt = () => findOnPath(['docker-compose'], { PATH: join(home, 'cli-plugins') });
  if (isBuilt()) return { path, home };
  const go = findOnPath(['go'], env);
  if (!go) return { reason: 'neither Docker Compose nor Go, which could build it, was found' };
  mkdirSync(home, { recursive: true });
  return withLock(join(home, '.lock'), async () => {
    if (isBuilt()) return { path, home };
    const label = `Building Docker Compose ${VERSION} from its Go module, once`;
    const { code, stderr } = await withProgress(label, () => build(go, path, env));
    if (code === 0 && isBuilt()) return { path, home };
    return { reason: `Docker Compose was not built: ${lastLines(stderr, 3)}` };
  });
}

/** Where Docker has its plugin, if any. */
const PLUGIN = '{{range .ClientInfo.Plugins}}{{if eq .Name "compose"}}{{.Path}}{{end}}{{end}}';

/** In the module's own folder, since `go install` refuses a module that excludes others. */
async function build(go, path, env) {
  const found = await runCommand(go, ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { env });
  if (found.code !== 0) return found;
  const stamp = `-s -w -X ${MODULE}/internal.Version=${VERSION}`;
  return runCommand(go, ['build', '-trimpath', '-ldflags', stamp, '-o', path, './cmd'], {
    cwd: JSON.parse(found.stdout).Dir,
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' },
  });
}

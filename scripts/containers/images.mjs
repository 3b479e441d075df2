// Provides the images of the compose files and Dockerfiles: from their registry, or, if none is reachable and
// the engine is private, as stand-ins of the same name from Debian packages and Go modules.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installWithApt } from '../engines/apt.mjs';
import { findGoProgram } from '../engines/go-program.mjs';
import { findTemporalPrograms } from '../engines/temporal-cluster.mjs';
import { findTemporal } from '../engines/temporal.mjs';
import { withProgress } from '../system/progress.mjs';
import { projectRoot, UserError } from '../system/project.mjs';
import { findOnPath, lastLines, outputOf, runCommand } from '../system/run-command.mjs';

const RECIPES = fileURLToPath(new URL('./stand-ins', import.meta.url));
const SUITE = 'bookworm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const PROXIES = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** @returns the origin of the images, in words */
export async function fetchImages({ env, isOwn }) {
  const images = wantedImages();
  const missing = [];
  for (const image of images) {
    const { code } = await runCommand('docker', ['image', 'inspect', image], { env });
    if (code !== 0) missing.push(image);
  }
  if (missing.length === 0) return 'the images at hand';
  const pulled = await withProgress(`Pulling ${missing[0]}`, () =>
    runCommand('docker', ['pull', '-q', missing[0]], { env }),
  );
  // Compose pulls the other images on demand.
  if (pulled.code === 0) return 'the official images';
  if (!isOwn) throw new UserError(`${missing[0]}: ${lastLines(pulled.stderr, 1)}`);
  await makeStandIns(missing, env);
  return 'stand-ins, since no image registry can be reached';
}

/** Returns the images, except those of optional profiles. */
function wantedImages() {
  const texts = [
    'docker-compose.yml',
    'templates/app/compose.yaml',
    'Dockerfile',
    'templates/app/Dockerfile',
  ];
  const named = texts.flatMap((file) => [
    ...readFileSync(join(projectRoot, file), 'utf8').matchAll(/^ *(?:image:|FROM) (\S+:\S+)/gm),
  ]);
  return [...new Set(named.map(([, image]) => image))].filter(
    (image) => !/^(prom|grafana)\//.test(image),
  );
}

/** Build options on a private engine: the host's network and proxies. */
export function hostOptions() {
  const args = PROXIES.filter((name) => process.env[name]);
  return {
    network: 'host',
    args: Object.fromEntries(args.map((name) => [name, process.env[name]])),
  };
}

async function makeStandIns(images, env) {
  const folder = mkdtempSync(join(tmpdir(), 'helix-stand-ins-'));
  const [base, parts] = [join(folder, 'base'), join(folder, 'parts')];
  const importAs = (name, from) =>
    outputOf('sh', ['-c', 'tar -C "$1" -c . | docker import - "$2"', 'sh', from, name], { env });
  try {
    const made = await Promise.allSettled([makeBase(base), collect(parts)]);
    for (const { reason } of made) if (reason) throw reason;
    await importAs('helix-stand-in', base);
    await importAs('helix-stand-in-parts', parts);
    const registry = (await outputOf('npm', ['config', 'get', 'registry'])).trim();
    const { network, args } = hostOptions();
    const options = Object.entries({ ...args, REGISTRY: registry }).flatMap((each) => [
      '--build-arg',
      each.join('='),
    ]);
    for (const image of images) {
      const target = ['--target', image.split(':')[0].split('/').at(-1), '-t', image];
      const build = ['build', '-q', '--network', network, ...options, ...target, RECIPES];
      await withProgress(`Making a stand-in for ${image}`, () =>
        outputOf('docker', build, { env }),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a small Debian with this machine's CA certificates and package sources. */
async function makeBase(root) {
  if (!findOnPath(['debootstrap'], { PATH: `${process.env.PATH}:/usr/sbin` })) {
    await installWithApt(['debootstrap']);
  }
  const uris = await outputOf('apt-get', ['indextargets', '--format', '$(REPO_URI)']);
  const mirror = uris.split('\n').filter((uri) => /\/debian\/?$/.test(uri));
  const options = ['--variant=minbase', '--include=ca-certificates', SUITE, root];
  await withProgress('Making a small Debian', () =>
    outputOf('/usr/sbin/debootstrap', [...options, ...mirror.slice(0, 1)]),
  );
  cpSync(CERTIFICATES, join(root, CERTIFICATES));
  const settings = await outputOf('apt-config', ['dump', 'Acquire']);
  const kept = settings.split('\n').filter((line) => /^Acquire::.+ ".+";$/.test(line));
  writeFileSync(join(root, 'etc/apt/apt.conf.d/99host'), `${kept.join('\n')}\n`);
}

/** Collects everything that the stand-ins need beyond Debian in one folder. */
async function collect(folder) {
  mkdirSync(folder);
  const images = wantedImages();
  const tagOf = (name) => images.find((image) => image.startsWith(`${name}:`)).split(':')[1];
  const { server, sqlTool } = await findTemporalPrograms();
  const ui = await findGoProgram({
    name: 'ui-server',
    module: 'github.com/temporalio/ui-server/v2/cmd/server',
    version: `v${tagOf('temporalio/ui')}`,
  });
  if (!ui.path) throw new UserError(`${ui.reason}.`);
  const module = `go.temporal.io/server@v${tagOf('temporalio/admin-tools')}`;
  const { Dir } = JSON.parse(await outputOf('go', ['mod', 'download', '-json', module]));
  const node = `node-linux-${process.arch}@${tagOf('node').split('-')[0]}`;
  await outputOf('npm', ['pack', '--silent', node], { cwd: folder });
  const unpack = 'tar -xzf *.tgz package/bin/node && mv package/bin/node . && rm -r package *.tgz';
  await outputOf('sh', ['-c', unpack], { cwd: folder });
  const parts = {
    temporal: await findTemporal(),
    'temporal-server': server,
    'temporal-sql-tool': sqlTool,
    'ui-server': ui.path,
    schema: join(Dir, 'schema'),
    npm: join((await outputOf('npm', ['root', '-g'])).trim(), 'npm'),
  };
  for (const [name, path] of Object.entries(parts)) {
    cpSync(path, join(folder, name), { recursive: true, dereference: true });
  }
}

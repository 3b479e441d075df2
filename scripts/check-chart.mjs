// `npm run check:chart`: lints the Helm chart and compares the plain manifests with what it renders.
// With --write the manifests are rendered again.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from './engines/cache-folder.mjs';
import { findOnPath } from './system/find-on-path.mjs';
import { projectRoot } from './system/project.mjs';
import { withProgress } from './system/progress.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const HELM_VERSION = 'v3.18.6';
/** A helm that was built from modules takes itself for a very old one otherwise. */
const KUBERNETES = '1.31.0';
const CHART = join(projectRoot, 'ops', 'helm', 'helix-temporal');
const MANIFESTS = join(projectRoot, 'ops', 'kubernetes', 'helix-temporal.yaml');
/** Values that switch on what is off by default, so that every line of every template is rendered. */
const EVERYTHING = [
  ...['api.autoscaling.enabled=true', 'worker.autoscaling.enabled=true'],
  ...['api.ingress.enabled=true', 'api.ingress.tlsSecret=tls', 'api.ingress.className=nginx'],
  ...['image.digest=sha256:0', 'secrets.api=api', 'secrets.worker=worker'],
];

await runMain(async () => {
  const helm = await findHelm();
  await run(helm, ['lint', '--strict', CHART]);
  const template = ['template', 'chat', CHART, '--kube-version', KUBERNETES];
  await run(helm, [...template, ...EVERYTHING.flatMap((each) => ['--set', each])]);
  const rendered = await run(helm, template);
  if (process.argv.includes('--write')) {
    await mkdir(dirname(MANIFESTS), { recursive: true });
    await writeFile(MANIFESTS, rendered);
  } else if ((await readFile(MANIFESTS, 'utf8')) !== rendered) {
    throw new UserError(
      'ops/kubernetes differs from what the chart renders: npm run check:chart -- --write',
    );
  }
  process.stdout.write('check:chart: the chart and the manifests agree\n');
});

/** On the path, in the cache, or built from its Go modules once. */
async function findHelm() {
  const onPath = findOnPath(['helm'], process.env);
  if (onPath) return onPath;
  const folder = join(cacheFolder(), `helm-${HELM_VERSION}`);
  const built = findOnPath(['helm'], { PATH: folder });
  if (built) return built;
  const go = findOnPath(['go'], process.env);
  if (!go) throw new UserError('check:chart needs helm, or Go to build it.');
  await mkdir(folder, { recursive: true });
  await withProgress('Building helm from Go modules, once', () =>
    run(go, ['install', `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`], { GOBIN: folder }),
  );
  return join(folder, 'helm');
}

async function run(file, args, env = {}) {
  const { code, stdout, stderr } = await runCommand(file, args, {
    env: { ...process.env, ...env },
  });
  if (code !== 0) throw new UserError(`${args[0]} failed: ${lastLines(stdout + stderr, 10)}`);
  return stdout;
}

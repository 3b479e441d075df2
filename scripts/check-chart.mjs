// `npm run check:chart`: lints the Helm chart, compares the plain manifests with what it renders, and
// holds that to the schemas of Kubernetes. With --write the manifests are rendered again.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGoProgram } from './kubernetes/go-program.mjs';
import { lintManifests } from './kubernetes/lint-manifests.mjs';
import { projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

const HELM = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.18.6' };
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
  const { path: helm, reason } = await findGoProgram(HELM);
  if (!helm) throw new UserError(`check:chart: ${reason}.`);
  const run = (args) => runHelm(helm, args);
  await run(['lint', '--strict', CHART]);
  const template = ['template', 'chat', CHART, '--kube-version', KUBERNETES];
  const everything = await run([...template, ...EVERYTHING.flatMap((each) => ['--set', each])]);
  const rendered = await run(template);
  if (process.argv.includes('--write')) writeFileSync(MANIFESTS, rendered);
  else if (readFileSync(MANIFESTS, 'utf8') !== rendered) {
    throw new UserError(
      'ops/kubernetes differs from what the chart renders: npm run check:chart -- --write',
    );
  }
  process.stdout.write('check:chart: the chart and the manifests agree\n');
  process.stdout.write(`check:chart: ${await lintRendered([rendered, everything])}\n`);
});

async function lintRendered(texts) {
  const folder = mkdtempSync(join(tmpdir(), 'helix-chart-'));
  try {
    const files = texts.map((text, n) => {
      const file = join(folder, `${n === 0 ? 'as-it-is' : 'everything-on'}.yaml`);
      writeFileSync(file, text);
      return file;
    });
    return await lintManifests(files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runHelm(helm, args) {
  const { code, stdout, stderr } = await runCommand(helm, args);
  if (code !== 0) throw new UserError(`${args[0]} failed: ${lastLines(stdout + stderr, 10)}`);
  return stdout;
}

// `npm run check:chart`: lints the Helm chart and compares the plain manifests with its output; --write
// renders them again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findGoProgram } from './engines/go-program.mjs';
import { projectRoot, runMain, UserError } from './system/project.mjs';
import { outputOf } from './system/run-command.mjs';

const HELM = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.18.6' };
const MANIFESTS = join(projectRoot, 'ops', 'kubernetes', 'helix-temporal.yaml');
const CHART = join(projectRoot, 'ops', 'helm', 'helix-temporal');
/** A helm that was built from modules would assume a very old version. */
const KUBERNETES = '1.31.0';
/** Values that enable everything that is off by default, so that every template line is rendered. */
const EVERYTHING = [
  'api.autoscaling.enabled=true',
  'worker.autoscaling.enabled=true',
  'api.ingress.enabled=true',
  'api.ingress.tlsSecret=tls',
  'api.ingress.className=nginx',
  'image.digest=sha256:0',
  'secrets.api=api',
  'secrets.worker=worker',
];

await runMain(async () => {
  const { path: helm, reason } = await findGoProgram(HELM);
  if (!helm) throw new UserError(`check:chart: ${reason}.`);
  const run = (args) => outputOf(helm, args);
  await run(['lint', '--strict', CHART]);
  const template = ['template', 'chat', CHART, '--kube-version', KUBERNETES];
  await run([...template, ...EVERYTHING.flatMap((each) => ['--set', each])]);
  const rendered = await run(template);
  if (process.argv.includes('--write')) writeFileSync(MANIFESTS, rendered);
  else if (readFileSync(MANIFESTS, 'utf8') !== rendered) {
    throw new UserError(
      'ops/kubernetes differs from what the chart renders: npm run check:chart -- --write',
    );
  }
  process.stdout.write('check:chart: helm lint passed, the chart and the manifests agree\n');
});

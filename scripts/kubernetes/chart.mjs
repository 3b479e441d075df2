// The Helm chart: it is linted, the plain manifests are what it renders, and all of it fits the schemas of Kubernetes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { lintManifests } from './lint-manifests.mjs';

export const HELM = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.18.6' };
export const MANIFESTS = join(projectRoot, 'ops', 'kubernetes', 'helix-temporal.yaml');
const CHART = join(projectRoot, 'ops', 'helm', 'helix-temporal');
/** A helm that was built from modules takes itself for a very old one otherwise. */
const KUBERNETES = '1.31.0';
/** Values that switch on what is off by default, so that every line of every template is rendered. */
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

/**
 * @param helm its path
 * @param write renders the manifests again instead of comparing them
 * @returns what to print
 * @throws UserError with what is wrong
 */
export async function checkChart(helm, { write = false, chart = CHART } = {}) {
  const run = (args) => runHelm(helm, args);
  await run(['lint', '--strict', chart]);
  const template = ['template', 'chat', chart, '--kube-version', KUBERNETES];
  const everything = await run([...template, ...EVERYTHING.flatMap((each) => ['--set', each])]);
  const rendered = await run(template);
  if (write) writeFileSync(MANIFESTS, rendered);
  else if (readFileSync(MANIFESTS, 'utf8') !== rendered) {
    throw new UserError(
      'ops/kubernetes differs from what the chart renders: npm run check:chart -- --write',
    );
  }
  return `helm lint passed, the chart and the manifests agree; ${await lintRendered([rendered, everything])}`;
}

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

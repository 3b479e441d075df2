// `npm run check:chart`: lints the Helm chart, compares the plain manifests with what it renders, and
// holds that to the schemas of Kubernetes. With --write the manifests are rendered again.
import { checkChart, HELM } from './kubernetes/chart.mjs';
import { findGoProgram } from './engines/go-program.mjs';
import { runMain, UserError } from './system/user-error.mjs';

await runMain(async () => {
  const { path: helm, reason } = await findGoProgram(HELM);
  if (!helm) throw new UserError(`check:chart: ${reason}.`);
  const write = process.argv.includes('--write');
  process.stdout.write(`check:chart: ${await checkChart(helm, { write })}\n`);
});

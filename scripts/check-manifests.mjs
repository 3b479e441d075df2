// `npm run check:manifests`: holds the plain manifests to the schemas of Kubernetes; where helm has been built, all of
// `npm run check:chart`. Building helm takes minutes, too long for a check that runs each time.
import { checkChart, HELM, MANIFESTS } from './kubernetes/chart.mjs';
import { findBuilt } from './engines/go-program.mjs';
import { lintManifests } from './kubernetes/lint-manifests.mjs';
import { runMain } from './system/user-error.mjs';

const NO_HELM = 'helm lint NOT CHECKED: npm run check:chart builds helm, once';

await runMain(async () => {
  const helm = findBuilt(HELM);
  const outcome = helm ? await checkChart(helm) : `${await lintManifests([MANIFESTS])}; ${NO_HELM}`;
  process.stdout.write(`check:manifests: ${outcome}\n`);
});

// `npm run check:manifests`: holds the plain manifests to the schemas of Kubernetes.
import { join } from 'node:path';
import { lintManifests } from './kubernetes/lint-manifests.mjs';
import { projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

const MANIFESTS = join(projectRoot, 'ops', 'kubernetes', 'helix-temporal.yaml');

await runMain(async () => {
  process.stdout.write(`check:manifests: ${await lintManifests([MANIFESTS])}\n`);
});

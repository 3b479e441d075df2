// `npm run python-client`: generates clients/python/helix_temporal/rest. The result is not in git: it is made of
// the routes, takes seconds, and so cannot be stale.
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { generatePythonClient } from './python/generate-client.mjs';
import { projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

await runMain(async () => {
  await buildFirst();
  const folder = join(projectRoot, 'clients', 'python');
  await generatePythonClient(folder);
  console.log(`Install it with: pip install ${folder}`);
});

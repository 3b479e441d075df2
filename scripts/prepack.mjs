// Runs before `npm pack` and `npm publish`, also in a clean clone: a package has code and types.
import { build } from './build.mjs';
import { installPackages } from './install.mjs';
import { withProgress } from './system/progress.mjs';
import { runMain } from './system/user-error.mjs';

await runMain(async () => {
  await installPackages();
  await withProgress('Building', () => build({ types: true }));
});

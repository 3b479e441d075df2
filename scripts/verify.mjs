// `npm run verify`: every check but the tests. After a failure nothing else begins.
import { installPackages } from './install.mjs';
import { runMain } from './system/user-error.mjs';
import { runRows } from './system/run-rows.mjs';

/** The rows run beside each other. What builds into `dist` is in one row; the other is cheapest first. */
const ROWS = [
  ['types', 'examples', 'package', 'rehearse-install'],
  ['boundaries', 'unused', 'links', 'check:compose', 'format:check', 'lint'],
];

await runMain(async () => {
  await installPackages();
  const { passed, failed } = await runRows(ROWS);
  const isBroken = failed.length > 0;
  if (isBroken) process.exitCode = 1;
  const names = (isBroken ? failed : passed).join(', ');
  process.stdout.write(`\nverify: ${names} ${isBroken ? 'failed' : 'passed'}\n`);
});

// `npm run check:alerts`: the dashboard and the alerts, by promtool and by a Prometheus that scrapes
// real processes.
import { findPrometheus } from './engines/prometheus.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain, UserError } from './system/user-error.mjs';

await runMain(async () => {
  if ((await findPrometheus()) === undefined) {
    throw new UserError('Prometheus was not found: install it with its promtool, and try again.');
  }
  process.exitCode = await runInForeground(process.execPath, ['scripts/test.mjs', 'test/ops'], {
    cwd: projectRoot,
  });
});

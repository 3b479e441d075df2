// `npm run verify`: every check, cheapest first; the first failure ends it.
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain } from './system/user-error.mjs';

const CHECKS = [
  ...[
    'types',
    'lint',
    'boundaries',
    'format:check',
    'unused',
    'links',
    'words',
    'package',
    'check:manifests',
    'vulnerabilities',
  ],
  ...['sbom', 'site', 'rehearse-install'],
];

await runMain(async () => {
  const checks = process.argv.includes('--no-tests') ? CHECKS : [...CHECKS, 'test', 'test:long'];
  await installPackages();
  for (const check of checks) {
    process.stdout.write(`\n── ${check}\n`);
    const code = await runInForeground('npm', ['run', '-s', check], { cwd: projectRoot });
    if (code !== 0) {
      process.stdout.write(`\nverify: ${check} failed\n`);
      process.exitCode = code;
      return;
    }
  }
  process.stdout.write(`\nverify: ${checks.join(', ')} passed\n`);
});

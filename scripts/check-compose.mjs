// `npm run check:compose`: validates the files with Docker Compose, using the settings of env.sh.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCompose } from './containers/engine.mjs';
import { projectRoot, runMain } from './system/project.mjs';
import { outputOf } from './system/run-command.mjs';

const FILES = ['docker-compose.yml', 'templates/app/compose.yaml'];
const ENV_SCRIPT = join(projectRoot, 'templates/app/env.sh');

await runMain(async () => {
  const { path, reason } = await findCompose();
  if (!path) {
    process.stdout.write(`check:compose: NOT CHECKED: ${reason}\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'helix-compose-'));
  try {
    await outputOf('sh', [ENV_SCRIPT, 'open'], { cwd: folder });
    for (const file of FILES) {
      const options = ['--env-file', join(folder, '.env'), '--profile', 'observability'];
      await outputOf(path, ['-f', join(projectRoot, file), ...options, 'config', '-q']);
    }
    const version = await outputOf(path, ['version', '--short']);
    process.stdout.write(`check:compose: Compose ${version.trim()} takes ${FILES.join(' and ')}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

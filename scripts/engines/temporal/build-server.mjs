// Builds the programs of a Temporal server from Go modules: the server and the tool that makes its
// tables. The command line's module depends on the server's, so tools/temporal-cli pins both.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findOnPath } from '../../system/find-on-path.mjs';
import { projectRoot } from '../../system/project.mjs';
import { lastLines, runCommand } from '../../system/run-command.mjs';
import { buildFlags, countPackages, goEnvironment } from './go-build.mjs';

const COMMANDS = {
  'temporal-server': 'go.temporal.io/server/cmd/server',
  'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
};

/** @param target the folder in which the programs stand in the end, both or neither */
export async function buildTemporalServer({ target, progress, env }) {
  const go = findOnPath(['go'], env);
  if (!go) throw new Error('Go is not installed');
  const folder = await mkdtemp(join(dirname(target), 'build-'));
  try {
    for (const [name, command] of Object.entries(COMMANDS)) {
      const args = ['build', '-v', ...buildFlags(), '-o', join(folder, name), command];
      const { code, stderr } = await runCommand(go, args, {
        cwd: join(projectRoot, 'tools', 'temporal-cli'),
        env: goEnvironment(env),
        onLine: countPackages(progress),
      });
      if (code !== 0) throw new Error(`go build failed: ${lastLines(stderr, 3)}`);
    }
    await rm(target, { recursive: true, force: true });
    await rename(folder, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

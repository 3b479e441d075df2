// Builds the Temporal dev server from Go modules, for machines that reach those but not the
// download: tools/temporal-cli pins every module by checksum.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findOnPath } from '../../system/find-on-path.mjs';
import { projectRoot } from '../../system/project.mjs';
import { lastLines, runCommand } from '../../system/run-command.mjs';
import { buildFlags, countPackages, goEnvironment } from './go-build.mjs';

const COMMAND = 'github.com/temporalio/cli/cmd/temporal';
// This older release needs no wrapper module: a second chance if the pinned one does not build.
const DIRECT_VERSION = 'v1.5.1';

export async function buildTemporal({ target, version, isTemporal, progress, env }) {
  const go = findOnPath(['go'], env);
  if (!go) throw new Error('Go is not installed');

  const folder = await mkdtemp(join(dirname(target), 'build-'));
  try {
    const binary = join(folder, 'temporal');
    const recipes = [
      {
        args: ['build', '-v', ...buildFlags(stampVersion(version)), '-o', binary, COMMAND],
        cwd: join(projectRoot, 'tools', 'temporal-cli'),
      },
      { args: ['install', '-v', ...buildFlags(), `${COMMAND}@${DIRECT_VERSION}`], cwd: folder },
    ];
    let reason;
    for (const { args, cwd } of recipes) {
      const built = await runCommand(go, args, {
        cwd,
        env: { ...goEnvironment(env), GOBIN: folder },
        onLine: countPackages(progress),
      });
      if (built.code === 0 && (await isTemporal(binary))) {
        await rename(binary, target);
        return;
      }
      reason ??= lastLines(built.stderr, 3);
    }
    throw new Error(`go build failed: ${reason}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function stampVersion(version) {
  return ` -X github.com/temporalio/cli/internal/temporalcli.Version=${version}`;
}

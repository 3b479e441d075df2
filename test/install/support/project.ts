import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGroup, type ProgramGroup } from './programs.js';

const run = promisify(execFile);

/** A user's project with the package installed. */
export interface Project {
  readonly folder: string;
  /** Returns the program's output. @throws Error with the output if the program fails */
  run: (file: string, args: string[]) => Promise<string>;
  /**
   * Starts a program that runs until the project is closed. Resolves once it has printed the text;
   * the function returns the output so far.
   */
  start: (file: string, args: string[], says: string | RegExp) => Promise<() => string>;
  write: (path: string, text: string) => Promise<void>;
  close: () => Promise<void>;
}

/** Returns a package made by `npm run rehearse-install`: this one, or the one of `npm create`. */
export function tarball(variable: 'HELIX_TARBALL' | 'HELIX_CREATOR' = 'HELIX_TARBALL'): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error('run this with npm run rehearse-install');
  return path;
}

/**
 * @param packages packages installed next to ours
 * @param from a folder to start from, with its own package.json
 * @param namesOurs true if that package.json already names our package
 */
export async function installInto(
  packages: string[],
  {
    from,
    namesOurs = false,
    env = {},
  }: { from?: string; namesOurs?: boolean; env?: Record<string, string> } = {},
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'helix-stranger-'));
  const started: ProgramGroup[] = [];
  const options = {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NEXT_TELEMETRY_DISABLED: '1',
      ...env,
    },
    maxBuffer: 64 * 1024 * 1024,
  };

  async function runProgram(file: string, args: string[]): Promise<string> {
    try {
      const { stdout } = await run(file, args, options);
      return stdout;
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  }

  if (from === undefined) {
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  } else {
    await cp(from, folder, { recursive: true });
  }
  const ours = namesOurs ? [] : [tarball()];
  await runProgram('npm', ['install', '--no-audit', '--no-fund', ...ours, ...packages]);
  return {
    folder,
    run: runProgram,
    write: (path, text) => writeFile(join(folder, path), text),
    start: async (file, args, says) => {
      const program = await startGroup(file, args, { ...options, says });
      started.push(program);
      return program.output;
    },
    close: async () => {
      for (const program of started) await program.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGroup, type ProgramGroup } from './programs.js';

const run = promisify(execFile);

/** A stranger's project, with the package installed. */
export interface Project {
  readonly folder: string;
  /** What the program printed. @throws Error if it fails, with what it printed */
  run: (file: string, args: string[]) => Promise<string>;
  /**
   * A program that runs until the project is closed; resolves when it has printed the text, to what it
   * has printed so far.
   */
  start: (file: string, args: string[], says: string | RegExp) => Promise<() => string>;
  write: (path: string, text: string) => Promise<void>;
  close: () => Promise<void>;
}

/** A package that `npm run rehearse-install` has made: this one, or the one of `npm create`. */
export function tarball(variable: 'HELIX_TARBALL' | 'HELIX_CREATOR' = 'HELIX_TARBALL'): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error('run this with npm run rehearse-install');
  return path;
}

/**
 * @param packages   installed beside ours
 * @param from       a folder to begin with, with a package.json of its own
 * @param namesOurs  whether that file names our package already
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

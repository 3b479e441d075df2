import { fileURLToPath } from 'node:url';

/** The root of the project: every command works from there, wherever it was called from. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** True when this module is the program that node was asked to run, and not imported by another. */
export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && fileURLToPath(moduleUrl) === process.argv[1];
}

import { runCommand } from './run-command.mjs';

/** Ids of the processes whose command line ends with this text. */
export async function findProcesses(commandEnd) {
  const { stdout } = await runCommand('ps', ['-ww', '-eo', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.trimEnd().endsWith(commandEnd))
    .map((line) => parseInt(line));
}

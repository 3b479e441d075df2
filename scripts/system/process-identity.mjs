// Tells a recorded process from a later one with the same id.
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

/**
 * Returns a process's start time in the system's unit; undefined if no such process runs. Ids are reused
 * after a reboot, so only id and start time together identify a process.
 */
export function startTimeOf(pid) {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field, the command in parentheses, may contain spaces, so counting starts after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[19];
    } catch {
      return undefined;
    }
  }
  const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() || undefined : undefined;
}

export function identityOf(pid) {
  return { pid, startTime: startTimeOf(pid) };
}

export function isSameProcess({ pid, startTime }) {
  return startTime !== undefined && startTimeOf(pid) === startTime;
}

/** Returns a process's parent id and command line; undefined if the system has no /proc. */
export function describeProcess(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]), command };
  } catch {
    return undefined;
  }
}

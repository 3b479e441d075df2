// Checks whether a process id still belongs to the process that wrote it down.
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

/**
 * The start time of a process, in whatever unit the system keeps: together with the id it names a
 * process uniquely. Ids are reused, so an id alone may name another process after a reboot.
 * Undefined when no such process runs.
 */
export function startTimeOf(pid) {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field is the command in parentheses and may hold spaces: count from behind it.
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

/** The id of a process's parent and its command line. Undefined where the system has no /proc. */
export function describeProcess(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { parent: Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]), command };
  } catch {
    return undefined;
  }
}

import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc; fixed at 100 on every Linux that Node runs on. */
const TICKS = 100;

/** CPU seconds that a process has used; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  const fields = readStat(pid);
  return fields === undefined ? undefined : (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Resident memory of a process in MB; undefined where there is no /proc. */
export function residentMegabytes(pid: number): number | undefined {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`) ?? '');
  return match === null ? undefined : Number(match[1]) / 1024;
}

/** CPU seconds that the whole machine has used. */
export function machineCpuSeconds(): number | undefined {
  const match = /^cpu\s+(.*)$/m.exec(read('/proc/stat') ?? '');
  const [user, nice, system, , , irq, softIrq] = (match?.[1] ?? '').split(' ').map(Number);
  const busy = [user, nice, system, irq, softIrq].map((ticks) => ticks ?? NaN);
  return match === null ? undefined : busy.reduce((sum, ticks) => sum + ticks, 0) / TICKS;
}

/** The process of that name whose parent has started this one too. */
export function siblingPid(name: string): number | undefined {
  const parent = String(process.ppid);
  const pids = (list('/proc') ?? []).filter((entry) => /^\d+$/.test(entry)).map(Number);
  return pids.find((pid) => readStat(pid)?.[1] === parent && commandOf(pid).startsWith(name));
}

/** Fields of /proc/<pid>/stat after the command, which may hold spaces. */
function readStat(pid: number): string[] | undefined {
  const stat = read(`/proc/${String(pid)}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function commandOf(pid: number): string {
  return read(`/proc/${String(pid)}/comm`)?.trim() ?? '';
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function list(path: string): string[] | undefined {
  try {
    return readdirSync(path);
  } catch {
    return undefined;
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

/** Clock ticks per second in /proc; fixed at 100 on every Linux that Node runs on. */
const TICKS = 100;

/** Returns the CPU seconds of a process; NaN if the process is gone or the system has no /proc. */
export function cpuSeconds(pid: number | undefined): number {
  const fields = readStat(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Returns the CPU seconds of a process and all its descendants, ended ones included. */
function treeCpuSeconds(root: number): number {
  const children = new Map<string, number[]>();
  for (const pid of listPids()) {
    const parent = readStat(pid)[1] ?? '';
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const sum = (pid: number): number => {
    // User and system time of the process and of the children that it has waited for.
    const ticks = readStat(pid).slice(11, 15);
    const own = ticks.reduce((total, field) => total + Number(field), 0) / TICKS;
    const below = children.get(String(pid)) ?? [];
    return below.reduce((total, child) => total + sum(child), own);
  };
  return sum(root);
}

/** Returns a process's resident memory in MB; NaN if there is no /proc. */
export function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${String(pid)}/status`))?.[1]) / 1024;
}

/** Returns the CPU seconds of the whole machine; NaN if there is no /proc. */
function machineCpuSeconds(): number {
  const [user, nice, system, , , irq, softIrq] = read('/proc/stat').split(/\s+/).slice(1);
  const busy = [user, nice, system, irq, softIrq];
  return busy.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

/** Finds a process by name with the same parent as this one. */
export function siblingPid(name: string): number | undefined {
  const parent = String(process.ppid);
  return listPids().find(
    (pid) => readStat(pid)[1] === parent && read(`/proc/${String(pid)}/comm`).startsWith(name),
  );
}

/** Returns the fields of /proc/<pid>/stat after the command, which may contain spaces. */
function readStat(pid: number | undefined): string[] {
  const stat = read(`/proc/${String(pid)}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function listPids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number);
  } catch {
    return [];
  }
}

/** Returns the process id of the Redis server on its machine. */
export async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}

/** CPU use in a period: percent of one core, by process. */
export type CpuShares = Record<string, number>;

/** Process ids by name; unknown ones are left out. */
export type Pids = Readonly<Record<string, number | undefined>>;

/**
 * Measures until the returned function is called. `others` is the load of unrelated programs; with much of
 * it, the figures are worth little.
 */
export function startCpuMeter(pids: Pids): () => CpuShares {
  const startedAt = performance.now();
  const before = readAll(pids);
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const after = readAll(pids);
    return Object.fromEntries(
      Object.entries(after)
        .map(([name, now]) => [name, (100 * (now - (before[name] ?? NaN))) / seconds] as const)
        .filter(([, share]) => !Number.isNaN(share)),
    );
  };
}

export function formatShares(shares: CpuShares): string {
  return Object.entries(shares)
    .map(([name, share]) => `${name} ${share.toFixed(0)}`)
    .join(' · ');
}

function readAll(pids: Pids): Record<string, number> {
  const seconds = Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)] as const);
  // The parent process has started the engines, and this process everything else.
  const others = machineCpuSeconds() - treeCpuSeconds(process.ppid);
  return { ...Object.fromEntries(seconds), others };
}

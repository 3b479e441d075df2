import { cpuSeconds, machineCpuSeconds, treeCpuSeconds } from './usage.js';

/** What a span of time cost: percent of one core, by process. */
export type CpuShares = Record<string, number>;

/** Process ids by name; those that are not known are left out. */
export type Pids = Readonly<Record<string, number | undefined>>;

/**
 * Measures from now until the function that is returned is called. `others` is what programs that
 * have nothing to do with this run did meanwhile: with much of it, figures are worth little.
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
  const seconds = Object.entries(pids).map(
    ([name, pid]) => [name, (pid === undefined ? undefined : cpuSeconds(pid)) ?? NaN] as const,
  );
  // The process above this one has started the engines, and this one everything else.
  const others = (machineCpuSeconds() ?? NaN) - treeCpuSeconds(process.ppid);
  return { ...Object.fromEntries(seconds), others };
}

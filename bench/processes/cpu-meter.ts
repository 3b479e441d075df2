import { cpuSeconds, machineCpuSeconds } from './usage.js';

/** What a span of time cost: percent of one core, by process. */
export type CpuShares = Record<string, number>;

/**
 * Measures from now until the function that is returned is called. `others` is what the rest of
 * the machine did meanwhile: with much of it, the figures beside are worth little.
 */
export function startCpuMeter(pids: Readonly<Record<string, number | undefined>>): () => CpuShares {
  const readAll = (): Record<string, number | undefined> =>
    Object.fromEntries(
      Object.entries(pids).map(([name, pid]) => [
        name,
        pid === undefined ? undefined : cpuSeconds(pid),
      ]),
    );
  const before = readAll();
  const machineBefore = machineCpuSeconds();
  const startedAt = performance.now();
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const shares: CpuShares = {};
    for (const [name, now] of Object.entries(readAll())) {
      const then = before[name];
      if (now !== undefined && then !== undefined) shares[name] = (100 * (now - then)) / seconds;
    }
    const machineNow = machineCpuSeconds();
    if (machineNow !== undefined && machineBefore !== undefined) {
      const ours = Object.values(shares).reduce((sum, share) => sum + share, 0);
      shares['others'] = Math.max(0, (100 * (machineNow - machineBefore)) / seconds - ours);
    }
    return shares;
  };
}

export function formatShares(shares: CpuShares): string {
  return Object.entries(shares)
    .map(([name, share]) => `${name} ${share.toFixed(0)}`)
    .join(' · ');
}

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Settings of a process that can be measured. */
export const MEASURED = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('loop-meter.mjs', import.meta.url))}`,
};

/** What a piece of work asks of a process. */
export interface ProcessCost {
  /** The longest time for which its event loop did nothing else, ms, as of an idle machine. */
  busyMs: number;
  /** The same by the clock. */
  delayMs: number;
  /** How far its memory went above where it stood, MB; 0 where the system does not say. */
  grownMb: number;
}

export async function measureCost(
  /** Port of the meter in the process, as it says it. */
  { port, pid }: { port: number; pid: number },
  work: () => Promise<void>,
): Promise<ProcessCost> {
  const meter = `http://127.0.0.1:${String(port)}`;
  const read = async (): Promise<unknown> => (await fetch(meter)).json();
  await read();
  await writeFile(`/proc/${String(pid)}/clear_refs`, '5').catch(() => undefined);
  const before = await readMemory(pid, 'VmRSS');
  await work();
  const { busyMs, delayMs } = (await read()) as Pick<ProcessCost, 'busyMs' | 'delayMs'>;
  return { busyMs, delayMs, grownMb: (await readMemory(pid, 'VmHWM')) - before };
}

async function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const text = await readFile(`/proc/${String(pid)}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1_024;
}

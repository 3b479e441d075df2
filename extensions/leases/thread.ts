// Renews a worker's lease in a thread of its own, so that a busy main thread does not lose it.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { LeaseThread, OpenedLeases } from '../../store/contract/leases.js';
import { createRenewals, monotonicMs, readPulse, type LeaseTimes } from './renewals.js';

/** `workerData` of this thread. */
export interface ThreadInput {
  opening: LeaseThread;
  namespace: string;
  id: string;
  times: LeaseTimes;
  pulse: SharedArrayBuffer;
  /** False while a debugger may hold the main thread. */
  endsHung: boolean;
}

const { opening, namespace, id, times, pulse, endsHung } = workerData as ThreadInput;
const { openLeases } = (await import(opening.module)) as {
  openLeases: (data: unknown) => OpenedLeases;
};
const { leases, close } = openLeases(opening.data);

const renewals = createRenewals({
  leases: leases.of(namespace),
  id,
  times,
  pulse: readPulse(pulse),
  now: monotonicMs,
  onReport: (report) => parentPort?.postMessage(report),
  onHung: (suspect) => {
    if (!endsHung) return;
    const where = suspect && `, probably in the tool "${suspect.toolName}" (${suspect.toolCallId})`;
    writeSync(
      2,
      `The main thread of this worker stands still${where ?? ''}; the process ends. ` +
        'docs/tools.md says what tools must leave to other threads.\n',
    );
    // Only SIGKILL ends a process whose main thread is blocked.
    process.kill(process.pid, 'SIGKILL');
  },
});
const timer = setInterval(() => void renewals.turn(), times.renewMs);
void renewals.turn();

parentPort?.once('message', () => {
  clearInterval(timer);
  close();
  parentPort?.close();
});

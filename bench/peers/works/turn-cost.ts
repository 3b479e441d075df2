import { createLeave, sleep } from '../../clock.js';
import type { CpuSeconds, Running } from '../contender.js';
import { WordsShown } from '../words-shown.js';

const TURN = { steps: 5, words: 5, everyMs: 0, stamp: false };
const IDLE_MS = 4_000;

export interface TurnCost {
  /** ms of CPU for a turn, by process, beyond what they use idle. */
  cpu: CpuSeconds;
  history: { events: number; bytes: number };
}

/** What a turn of five steps with four tool calls costs. */
export async function measureTurnCost(
  running: Running,
  turns: number,
  engines: () => CpuSeconds,
): Promise<TurnCost> {
  const read = (): CpuSeconds => ({ ...running.cpuSeconds(), ...engines() });
  await runTurn(running);
  await sleep(1_000);
  const idleFrom = read();
  await sleep(IDLE_MS);
  const idle = minus(read(), idleFrom);

  const from = read();
  const startedAt = performance.now();
  for (let count = 0; count < turns; count += 1) await runTurn(running);
  await sleep(500);
  const share = (performance.now() - startedAt) / IDLE_MS;
  const spent = minus(read(), from);
  const cpu = Object.fromEntries(
    Object.entries(spent).map(([name, seconds]) => [
      name,
      Math.max(0, ((seconds - (idle[name] ?? 0) * share) * 1_000) / turns),
    ]),
  );
  return { cpu, history: (await running.history?.()) ?? { events: NaN, bytes: NaN } };
}

async function runTurn(running: Running): Promise<void> {
  await running.begin(TURN, new WordsShown(), createLeave().signal).response;
}

function minus(now: CpuSeconds, before: CpuSeconds): CpuSeconds {
  return Object.fromEntries(
    Object.entries(now).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]),
  );
}

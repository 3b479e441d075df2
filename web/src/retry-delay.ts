const FIRST_MS = 200;
const LONGEST_MS = 3_000;

/** Wait before try number `attempt` (from 0). The spread keeps pages that lost one server apart. */
export function retryDelay(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.min(LONGEST_MS, Math.round(base * (1 + random() / 4)));
}

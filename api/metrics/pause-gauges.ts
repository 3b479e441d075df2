import { Gauge, type Registry } from 'prom-client';
import { withTimeout } from '../../protocol/time.js';
import type { Pauses } from '../../stores/contract/pauses.js';

/** A scrape does not wait longer than this for the store. */
const READ_MS = 1_000;

/** Paused agents and held runs, read when metrics are scraped; every API process shows the same values. */
export function addPauseGauges(
  registry: Registry,
  { list, held }: Pick<Pauses, 'list' | 'held'>,
): void {
  new Gauge({
    name: 'helix_paused_agents',
    help: 'Pauses of agents: of a tenant, or over all.',
    labelNames: ['agent'],
    registers: [registry],
    async collect() {
      const paused = await withTimeout(READ_MS, list()).catch(() => []);
      this.reset();
      for (const { agent } of paused) this.inc({ agent });
    },
  });
  new Gauge({
    name: 'helix_held_runs',
    help: 'Runs that start when their agent is resumed.',
    labelNames: ['agent'],
    registers: [registry],
    async collect() {
      const found = await withTimeout(READ_MS, held()).catch(() => []);
      this.reset();
      for (const { agent, count } of found) this.inc({ agent }, count);
    },
  });
}

import { sleep } from '../clock.js';
import { faultsOf, oneOf, STILL_MS, standStill, type Faults } from '../processes/member.js';
import type { Fleet } from './fleet.js';
import type { Engine, Engines, Wires } from './wires.js';

/** A killed engine stays away for this time, ms; longer than Redis needs for a failover. */
const AWAY_MS = 4_000;

/** Kills, stops and partitions each kind of process. */
export function listFaults(engines: Engines, fleet: Fleet, wires: Wires): Faults {
  const { postgres, redis, temporal } = engines;

  const endings = (what: string, pick: () => Promise<Engine>): Faults => ({
    [`${what} killed`]: async () => {
      const engine = await pick();
      await engine.kill9();
      await sleep(AWAY_MS);
      await engine.restart();
    },
    [`${what} cut off`]: async () => wires.isolate((await pick()).name, STILL_MS),
  });
  const engine = (what: string, pick: () => Promise<Engine>): Faults => ({
    ...endings(what, pick),
    [`${what} stands still`]: async () => standStill((await pick()).pid),
  });
  const node = (what: string, pick: () => Promise<Engine>): Faults => {
    const faults = Object.entries(engine(what, pick));
    return Object.fromEntries(
      faults.map(([name, play]) => [name, () => play().then(redis.untilWhole)]),
    );
  };
  const members = (what: string, list: Fleet['workers']): Faults => ({
    ...faultsOf(what, list),
    [`${what} cut off`]: () => wires.isolate(oneOf(list).name, STILL_MS),
  });

  const roles = Object.entries(temporal.roles).map(([role, each]) =>
    engine(`Temporal ${role}`, () => Promise.resolve(each)),
  );
  return {
    ...roles.reduce((all, each) => ({ ...all, ...each }), {}),
    // PostgreSQL has a process per connection, so it cannot be frozen as a whole.
    ...endings('PostgreSQL', () => Promise.resolve(postgres)),
    'PostgreSQL restarted': () => postgres.restart(),
    ...node('Redis master', async () => oneOf(await redis.masters())),
    ...node('Redis replica', async () => {
      const masters = await redis.masters();
      return oneOf(redis.nodes.filter((each) => !masters.includes(each)));
    }),
    ...members('worker', fleet.workers),
    ...members('API', fleet.apis),
    ...faultsOf('proxy', [fleet.proxy]),
  };
}

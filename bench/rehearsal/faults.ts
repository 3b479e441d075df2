import { randomInt } from 'node:crypto';
import { sleep } from '../clock.js';
import type { Faults } from '../soak/play.js';
import type { Fleet, Member } from './fleet.js';
import type { Engine, Engines, Wires } from './wires.js';

/** A killed engine stays away for this time, ms; longer than Redis needs for a failover. */
const AWAY_MS = 4_000;
/** A process is frozen or unreachable for this time, ms. */
const STILL_MS = 5_000;

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
  const node = (what: string, pick: () => Promise<Engine>): Faults =>
    after(engine(what, pick), redis.untilWhole);
  const members = (what: string, list: readonly Member[]): Faults => ({
    [`${what} killed`]: () => oneOf(list).replace('SIGKILL'),
    [`${what} drained`]: () => oneOf(list).replace('SIGTERM'),
    [`${what} stands still`]: () => standStill(oneOf(list).pid()),
  });
  const cutOff = (what: string, list: readonly Member[]): Faults => ({
    [`${what} cut off`]: () => wires.isolate(oneOf(list).name, STILL_MS),
  });

  const roles = Object.entries(temporal.roles).map(([role, each]) =>
    engine(`Temporal ${role}`, () => Promise.resolve(each)),
  );
  return {
    ...Object.fromEntries(roles.flatMap((each) => Object.entries(each))),
    // PostgreSQL has a process per connection, so it cannot be frozen as a whole.
    ...endings('PostgreSQL', () => Promise.resolve(postgres)),
    'PostgreSQL restarted': () => postgres.restart(),
    ...node('Redis master', async () => oneOf(await redis.masters())),
    ...node('Redis replica', async () => {
      const masters = await redis.masters();
      return oneOf(redis.nodes.filter((each) => !masters.includes(each)));
    }),
    ...members('worker', fleet.workers),
    ...cutOff('worker', fleet.workers),
    ...members('API', fleet.apis),
    ...cutOff('API', fleet.apis),
    ...members('proxy', [fleet.proxy]),
  };
}

function after(faults: Faults, last: () => Promise<unknown>): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([name, play]) => [
      name,
      async () => {
        await play();
        await last();
      },
    ]),
  );
}

async function standStill(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  process.kill(pid, 'SIGSTOP');
  await sleep(STILL_MS);
  process.kill(pid, 'SIGCONT');
}

function oneOf<T>(list: readonly T[]): T {
  const one = list[randomInt(list.length)];
  if (one === undefined) throw new Error('there is none to choose from');
  return one;
}

import { sleep } from '../clock.js';
import { startWire, type Wire } from '../soak/wire.js';

/**
 * Processes listen on 127.0.0.1 and announce this address of the same machine, where a wire leads to
 * each of their ports.
 */
const ANNOUNCED = '127.0.0.2';

/** The wires before all processes, by the name of the process. */
export interface Wires extends Announced {
  /** A wire of that process alone to an address; returns where it is reached. */
  own: (name: string, address: string) => Promise<string>;
  /** A process is cut off for this long, in ms; what is sent meanwhile arrives afterwards. */
  isolate: (name: string, ms: number) => Promise<void>;
  close: () => void;
}

export function createWires(): Wires {
  const wires = new Map<string, Wire[]>();
  const keep = (name: string, made: readonly Wire[]): void => {
    wires.set(name, [...(wires.get(name) ?? []), ...made]);
  };
  return {
    announced: ANNOUNCED,
    reach: async (name, ports) => {
      keep(
        name,
        await Promise.all(ports.map((port) => startWire(port, { host: ANNOUNCED, port }))),
      );
    },
    own: async (name, address) => {
      const [host = '', port] = address.split(':');
      const wire = await startWire({ host, port: Number(port) });
      keep(name, [wire]);
      return `127.0.0.1:${String(wire.port)}`;
    },
    isolate: async (name, ms) => {
      const own = wires.get(name) ?? [];
      for (const wire of own) wire.hold();
      await sleep(ms);
      for (const wire of own) wire.release();
    },
    close: () => {
      for (const wire of [...wires.values()].flat()) wire.close();
    },
  };
}

/** An engine that runs as one process (scripts/engines/engine-process.mjs). */
export interface Engine {
  readonly name: string;
  readonly pid: number | undefined;
  kill9: () => Promise<void>;
  /** Orderly end if it runs; resolves when it answers again. */
  restart: () => Promise<void>;
}

/** What scripts/rehearse.mjs starts. */
export interface Engines {
  postgres: Engine;
  redis: {
    url: string;
    nodes: readonly Engine[];
    /** Those that have slots now. */
    masters: () => Promise<Engine[]>;
    /** Resolves when every slot has a master with a replica that has caught up. */
    untilWhole: () => Promise<void>;
  };
  temporal: {
    address: string;
    /** By the name of the role. */
    roles: Readonly<Record<string, Engine>>;
  };
  close: () => Promise<void>;
}

/** Where the engines are found, and how it is made that they are found there. */
interface Announced {
  announced: string;
  reach: (name: string, ports: readonly number[]) => Promise<void>;
}

export type StartEngines = (announced: Announced) => Promise<Engines>;

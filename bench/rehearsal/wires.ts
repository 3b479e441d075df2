import { sleep } from '../clock.js';
import { startWire, type Wire } from '../soak/wire.js';

/**
 * Processes listen on 127.0.0.1 and announce this address of the same machine, where a wire leads to each of
 * their ports.
 */
const ANNOUNCED = '127.0.0.2';

export type Wires = ReturnType<typeof createWires>;

/** The wires in front of all processes, by process name. */
export function createWires() {
  const wires = new Map<string, Wire[]>();
  const keep = (name: string, made: readonly Wire[]): void => {
    wires.set(name, [...(wires.get(name) ?? []), ...made]);
  };
  return {
    announced: ANNOUNCED,
    /** Makes `<announced>:<port>` lead to that process's ports. */
    reach: async (name: string, ports: readonly number[]): Promise<void> => {
      keep(
        name,
        await Promise.all(ports.map((port) => startWire(port, { host: ANNOUNCED, port }))),
      );
    },
    /** Creates a wire for that process alone; returns its address. */
    own: async (name: string, address: string): Promise<string> => {
      const [host = '', port] = address.split(':');
      const wire = await startWire({ host, port: Number(port) });
      keep(name, [wire]);
      return `127.0.0.1:${String(wire.port)}`;
    },
    /** Cuts off a process for `ms`; traffic of that time arrives afterwards. */
    isolate: async (name: string, ms: number): Promise<void> => {
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

/** An engine with one process (scripts/engines/engine-process.mjs). */
export interface Engine {
  readonly name: string;
  readonly pid: number | undefined;
  kill9: () => Promise<void>;
  /** Stops it in an orderly way if it runs, then starts it; resolves when it answers. */
  restart: () => Promise<void>;
}

/** The engines that scripts/rehearse.mjs starts. */
export interface Engines {
  postgres: Engine;
  redis: {
    url: string;
    nodes: readonly Engine[];
    /** Returns the nodes that own slots now. */
    masters: () => Promise<Engine[]>;
    /** Resolves when every slot has a master with a replica that has caught up. */
    untilWhole: () => Promise<void>;
  };
  temporal: {
    address: string;
    /** Engines by role name. */
    roles: Readonly<Record<string, Engine>>;
  };
  close: () => Promise<void>;
}

export type StartEngines = (wires: Pick<Wires, 'announced' | 'reach'>) => Promise<Engines>;

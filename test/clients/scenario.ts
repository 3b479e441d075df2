import type { Kit } from './browser.js';
import type { Client } from './clients.js';
import type { Stage } from './stage.js';

/** Plays a conversation and expects what is right. */
export type Play = (stage: Stage) => Promise<void>;

export interface Scenario {
  name: string;
  kit: Kit;
  play: Play;
  /** Versions that cannot be right whatever a server does; their play expects what they do instead. */
  exceptions: Exception[];
}

interface Exception {
  of: (client: Pick<Client, 'ai'>) => boolean;
  /** Completes "as an exception: …". */
  reason: string;
  play: Play;
}

export function scenario(name: string, play: Play, exceptions: Exception[] = []): Scenario {
  return { name, kit: 'stock', play, exceptions };
}

/** The same scenario with pages that are made with something else. */
export function madeWith(kit: Kit, { name, ...rest }: Scenario): Scenario {
  return { ...rest, kit, name: `${kit}: ${name}` };
}

/** How a version plays a scenario. */
export function castOf({ play, exceptions }: Scenario, client: Client): Play {
  return exceptions.find((exception) => exception.of(client))?.play ?? play;
}

/** The name of the test of a version. */
export function titleOf({ exceptions }: Scenario, client: { name: string; ai: string }): string {
  const exception = exceptions.find((candidate) => candidate.of(client));
  return exception === undefined
    ? client.name
    : `${client.name}, as an exception: ${exception.reason}`;
}

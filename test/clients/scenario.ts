import type { Kit } from './browser.js';
import type { Client } from './clients.js';
import type { Stage } from './stage.js';

/** Plays a conversation and checks the outcome. */
export type Play = (stage: Stage) => Promise<void>;

export interface Scenario {
  name: string;
  kit: Kit;
  play: Play;
  /** Versions that fail whatever the server does; their play expects the known failure. */
  exceptions: Exception[];
  /** True if nothing else may happen in its browser meanwhile. */
  isAlone?: true;
  /** True for pages of a signed-in customer of the agent `support`; others use `lab`, unnamed. */
  isOfCustomer?: true;
}

interface Exception {
  of: (client: Pick<Client, 'ai'>) => boolean;
  /** Completes the phrase "as an exception: …". */
  reason: string;
  play: Play;
}

export function scenario(name: string, play: Play, exceptions: Exception[] = []): Scenario {
  return { name, kit: 'stock', play, exceptions };
}

/** Returns the same scenario on pages of another kit. */
export function madeWith(kit: Kit, { name, ...rest }: Scenario): Scenario {
  return { ...rest, kit, name: `${kit}: ${name}` };
}

export function castOf({ play, exceptions }: Scenario, client: Client): Play {
  return exceptions.find((exception) => exception.of(client))?.play ?? play;
}

export function titleOf({ exceptions }: Scenario, client: { name: string; ai: string }): string {
  const exception = exceptions.find((candidate) => candidate.of(client));
  return exception === undefined
    ? client.name
    : `${client.name}, as an exception: ${exception.reason}`;
}

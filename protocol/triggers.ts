/** Who has fired a schedule by hand. Pure, since workflow code imports this file. */

/** A person who has asked, by the name within the tenant. */
export interface Asker {
  by: string;
  personId?: string | undefined;
}

export interface Trigger extends Asker {
  /** By the clock of the process that triggered, ms since the epoch. */
  at: number;
}

/** Temporal's clock may differ from that of the API by a minute, and firings are named by the second. */
const SAME_MS = 2 * 60_000;
/** A firing that is kept until others are over has its first time still, so old triggers are kept, too. */
const MOST = 500;

/** The same list if it has this trigger. */
export function addTrigger(triggers: readonly Trigger[], trigger: Trigger): readonly Trigger[] {
  const isNoted = triggers.some(({ by, at }) => by === trigger.by && at === trigger.at);
  return isNoted ? triggers : [...triggers, trigger].slice(-MOST);
}

/**
 * Who asks for a firing: the one who created the schedule, then those who triggered it, the nearest first.
 * Temporal does not tell a trigger from a time of the schedule, so firings of the two minutes around a
 * trigger count as triggered.
 */
export function askersOf(
  {
    owner,
    by = owner,
    personId,
    triggers = [],
  }: Partial<Asker> & {
    owner: string;
    triggers?: readonly Trigger[] | undefined;
  },
  firedAt: number,
): [Asker, ...Asker[]] {
  const distance = ({ at }: Trigger): number => Math.abs(at - firedAt);
  const near = triggers
    .filter((each) => distance(each) <= SAME_MS)
    .sort((a, b) => distance(a) - distance(b));
  return [{ by, personId }, ...near.map(({ at: _at, ...asker }) => asker)];
}

/** Who has fired a schedule by hand. Pure, since workflow code imports this file. */

export interface Trigger {
  by: string;
  /** By the clock of the process that triggered, ms since the epoch. */
  at: number;
}

/** Temporal's clock may differ from that of the API by a minute, and firings are named by the second. */
const SAME_MS = 2 * 60_000;
/** A firing that is kept until others are over has its first time still, so old triggers are kept, too. */
const MOST = 500;

/** The same list if it has this trigger. */
export function addTrigger(triggers: readonly Trigger[], { by, at }: Trigger): readonly Trigger[] {
  const isNoted = triggers.some((each) => each.by === by && each.at === at);
  return isNoted ? triggers : [...triggers, { by, at }].slice(-MOST);
}

/**
 * Who asks for a firing in place of the owner: the one who triggered it, else the one who created the
 * schedule. Temporal does not tell a trigger from a time of the schedule, so firings of the two minutes
 * around a trigger count as triggered.
 */
export function askerOf(
  { by, triggers = [] }: { by?: string | undefined; triggers?: readonly Trigger[] | undefined },
  firedAt: number,
): string | undefined {
  const distance = ({ at }: Trigger): number => Math.abs(at - firedAt);
  const [nearest] = triggers
    .filter((each) => distance(each) <= SAME_MS)
    .sort((a, b) => distance(a) - distance(b));
  return nearest?.by ?? by;
}

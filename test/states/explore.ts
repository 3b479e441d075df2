import { fingerprint } from './fingerprint.js';
import { findFault, isAtRest } from './invariants.js';
import { movesOf, type Move } from './moves.js';
import { copyWorld, createWorld, recordOf, type Budget, type World } from './world.js';

export interface Exploration {
  /** Different worlds that were seen. */
  worlds: number;
  /** How a world came about that breaks a rule, and which rule; absent if none does. */
  fault?: string;
}

/** Steps that helpful parts may need to bring any world to its end. */
const MOST_HELP = 60;

/** Goes through every order of events that the budget allows, and looks at every world on the way. */
export async function explore(budget: Budget): Promise<Exploration> {
  const start = createWorld(budget);
  const ending = new Set<string>();
  const seen = new Set([fingerprint(start)]);
  let frontier: { world: World; story: string[] }[] = [{ world: start, story: [] }];
  while (frontier.length > 0) {
    const next: typeof frontier = [];
    for (const { world, story } of frontier) {
      for (const move of movesOf(world)) {
        const after = copyWorld(world);
        await move.apply(after);
        const mark = fingerprint(after);
        if (seen.has(mark)) continue;
        seen.add(mark);
        const told = [...story, move.name];
        const fault = findFault(after) ?? (await findDeadEnd(after, ending));
        if (fault !== undefined)
          return { worlds: seen.size, fault: `${told.join(' → ')}: ${fault}` };
        next.push({ world: after, story: told });
      }
    }
    frontier = next;
  }
  return { worlds: seen.size };
}

/**
 * From every world the run comes to its end by what always happens some time: workers work, the
 * sweeper sweeps, people answer. Nobody sends a new message or stops anything.
 *
 * @param ending worlds of which this is known; those on the way are added
 */
async function findDeadEnd(world: World, ending: Set<string>): Promise<string | undefined> {
  let helped = copyWorld(world);
  Object.assign(helped.budget, {
    messages: 0,
    stops: 0,
    crashes: 0,
    lostSignals: 0,
    terminations: 0,
  });
  const told: string[] = [];
  const passed: string[] = [];
  for (let steps = 0; steps < MOST_HELP; steps += 1) {
    const record = recordOf(helped);
    const mark = fingerprint(helped);
    const isOver = record === undefined || isAtRest(record);
    if (isOver || ending.has(mark)) {
      for (const each of passed) ending.add(each);
      return undefined;
    }
    passed.push(mark);
    const { move, after } = await help(helped, mark);
    told.push(move.name);
    helped = after;
    const fault = findFault(helped);
    if (fault !== undefined) return `${told.join(' → ')}: ${fault}`;
  }
  return `no end in sight after ${told.slice(0, 12).join(' → ')} …`;
}

const HELP = ['claim', 'start', 'settle', 'reply text', 'deny', 'result'];

/** The first useful thing that changes anything; an answer that comes too late does not. */
async function help(world: World, mark: string): Promise<{ move: Move; after: World }> {
  const moves = movesOf(world);
  const useful = HELP.flatMap((kind) => moves.filter(({ name }) => name.startsWith(kind)));
  for (const move of [...useful, ...moves.filter(({ name }) => name === 'sweep')]) {
    const after = copyWorld(world);
    await move.apply(after);
    if (fingerprint(after) !== mark || move.name === 'sweep') return { move, after };
  }
  throw new Error('the sweeper always sweeps');
}

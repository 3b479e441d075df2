import { actionsOf } from './actions.js';
import { NO_REPLY, type Action } from './actors.js';
import { timeAt, type Environment } from './environment.js';
import { apply, NOTHING, type Data } from './record/data.js';
import { factsOf } from './record/facts.js';
import { play, toReply, type Sent } from './record/play.js';
import { reduce } from './search/reduce.js';

export interface Path {
  trace: string[];
  requests: { sent: Sent; now: number; reply: unknown }[];
  data: Data;
}

const MAX_ACTIONS = 60;

/** Returns a random path through the model, which depends only on the seed. */
export function randomPath(seed: number): Path {
  const random = createRandom(seed);
  const left = { messages: 3, stops: 1, faults: 3, leases: 1, jumps: 1 };
  let env: Environment = { clock: 0, left, workflows: [], actors: [], marks: [] };
  const path: Path = { trace: [], requests: [], data: NOTHING };
  for (let n = 0; n < MAX_ACTIONS; n += 1) {
    const facts = factsOf(path.data);
    const action = choose(actionsOf(env, facts), random);
    if (action === undefined) break;
    path.trace.push(action.name);
    let reply = NO_REPLY;
    if (action.request !== undefined) {
      const sent = action.request.toSent(facts);
      const now = timeAt(env.clock);
      const outcome = play(path.data, sent, now);
      path.requests.push({ sent, now, reply: outcome.reply });
      path.data = apply(path.data, outcome.writes);
      reply = toReply(outcome.reply);
    }
    const next = action.then(reply, facts);
    if (typeof next === 'string') throw new Error(`${path.trace.join(' → ')}: ${next}`);
    env = reduce(next, factsOf(path.data));
  }
  return path;
}

/** Prefers actions that move the run on, so that paths get far. */
function choose(actions: readonly Action[], random: () => number): Action | undefined {
  const fair = actions.filter(({ isFair }) => isFair);
  const from = fair.length > 0 && random() < 0.75 ? fair : actions;
  return from[Math.floor(random() * from.length)];
}

/** Returns a generator of numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

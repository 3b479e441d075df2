import { createKeyspace } from '../../../../stores/memory/keyspace.js';
import { actionsOf } from '../actions/index.js';
import { NO_REPLY, type Action } from '../actions/action.js';
import { timeAt } from '../clock.js';
import type { Environment } from '../environment.js';
import { factsOf } from '../record/facts.js';
import { play, toReply } from '../record/play.js';
import type { Call } from '../requests/request.js';
import { reduce } from '../search/reduce.js';
import { dumpOf, type Dump } from './dumps.js';

export interface Path {
  trace: string[];
  requests: { call: Call; now: number; reply: unknown }[];
  /** What is stored in the end. */
  dump: Dump;
}

const MOST_ACTIONS = 60;

/** A path through the model, on a keyspace in memory. It is the same whenever the seed is. */
export function randomPath(seed: number): Path {
  const random = createRandom(seed);
  const left = { messages: 3, stops: 1, faults: 3, leases: 1, jumps: 1 };
  let env: Environment = { clock: 0, left, workflows: [], actors: [], marks: [] };
  const keyspace = createKeyspace({ now: () => timeAt(env.clock) });
  const path: Path = { trace: [], requests: [], dump: {} };
  for (let n = 0; n < MOST_ACTIONS; n += 1) {
    const facts = factsOf(keyspace);
    const action = choose(actionsOf(env, facts), random);
    if (action === undefined) break;
    path.trace.push(action.name);
    let reply = NO_REPLY;
    if (action.request !== undefined) {
      const call = action.request.toCall(facts);
      const replied = play(keyspace, call);
      path.requests.push({ call, now: timeAt(env.clock), reply: replied });
      reply = toReply(replied);
    }
    const next = action.then(reply, facts);
    if (typeof next === 'string') throw new Error(`${path.trace.join(' → ')}: ${next}`);
    env = reduce(next, factsOf(keyspace));
  }
  return { ...path, dump: dumpOf(keyspace) };
}

/** Mostly what moves the run on, so that paths become long enough to get somewhere. */
function choose(actions: readonly Action[], random: () => number): Action | undefined {
  const fair = actions.filter(({ isFair }) => isFair);
  const from = fair.length > 0 && random() < 0.75 ? fair : actions;
  return from[Math.floor(random() * from.length)];
}

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

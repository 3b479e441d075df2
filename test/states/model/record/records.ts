import { hash } from 'node:crypto';
import { timeAt, type Clock } from '../environment.js';
import type { Request } from '../requests.js';
import { createTexts } from '../search/environments.js';
import { apply, NOTHING, type Data } from './data.js';
import { factsOf, type Facts } from './facts.js';
import { toReply, type Play, type Reply, type Sent } from './play.js';
import { fingerprintOf } from './projection.js';

export interface Effect {
  /** Number of the resulting record. */
  to: number;
  reply: Reply;
  violation: string | undefined;
}

/** A request that wrote something. */
export interface Played {
  play: Play;
  sent: Sent;
  /** Time by the store's clock. */
  now: number;
  reply: Reply;
  before: Data;
  after: Data;
  facts: Facts;
  /** True if it reached a new record. */
  isNew: boolean;
}

/** Judges a request's writes; returns the broken rule with details, if any. */
export type Check = (played: Played) => string | undefined;

/**
 * All reached records. A request is played once per record, however many states share the record.
 */
export interface Records {
  readonly first: number;
  readonly size: () => number;
  readonly played: () => number;
  facts: (record: number) => Facts;
  send: (record: number, request: Request, clock: Clock) => Effect;
}

interface KnownRecord {
  data: Data;
  facts: Facts;
  /** Effects of the requests to the record, by their numbers. */
  effects: Map<number, Effect>;
}

export function createRecords(play: Play, check: Check): Records {
  const records: KnownRecord[] = [];
  const hashes = createTexts();
  const requests = createTexts();
  let played = 0;

  function add(data: Data): number {
    const number = hashes.number(hash('md5', fingerprintOf(data), 'base64'));
    if (number === records.length) records.push({ data, facts: factsOf(data), effects: new Map() });
    return number;
  }

  function record(number: number): KnownRecord {
    const found = records[number];
    if (found === undefined) throw new Error(`there is no record ${String(number)}`);
    return found;
  }

  function send(from: number, request: Request, clock: Clock): Effect {
    const number = requests.number(request.key);
    const { effects } = record(from);
    let effect = effects.get(number);
    if (effect === undefined) {
      effect = playOn(from, request, timeAt(clock));
      played += 1;
      effects.set(number, effect);
    }
    return effect;
  }

  function playOn(from: number, request: Request, now: number): Effect {
    const { data: before, facts } = record(from);
    const sent = request.toSent(facts);
    try {
      const outcome = play(before, sent, now);
      const reply = toReply(outcome.reply);
      if (outcome.writes.length === 0) return { to: from, reply, violation: undefined };
      const after = apply(before, outcome.writes);
      const known = records.length;
      const to = add(after);
      const isNew = to === known;
      const done = { play, sent, now, reply, before, after, facts: record(to).facts, isNew };
      return { to, reply, violation: check(done) };
    } catch (error) {
      const violation = `P3, every request gets a reply: ${request.key} fails with ${String(error)}`;
      return { to: from, reply: { kind: 'failed' }, violation };
    }
  }

  return {
    first: add(NOTHING),
    size: () => records.length,
    played: () => played,
    facts: (number) => record(number).facts,
    send,
  };
}

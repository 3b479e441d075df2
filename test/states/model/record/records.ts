import { createHash } from 'node:crypto';
import { createKeyspace, type Keyspace } from '../../../../stores/memory/keyspace.js';
import { timeAt, type Clock } from '../clock.js';
import type { Call, Request } from '../requests/request.js';
import { copyOnWrite } from './copy-on-write.js';
import { factsOf, type Facts } from './facts.js';
import { toReply, type Play, type Reply } from './play.js';
import { openTexts, project } from './projection.js';

/** What a request does to a record. */
export interface Effect {
  /** The record after it. */
  to: number;
  reply: Reply;
  /** The rule that it breaks. */
  violation: string | undefined;
}

/** One transition that has written. */
export interface Played {
  play: Play;
  call: Call;
  reply: unknown;
  before: Keyspace;
  after: Keyspace;
  /** Of `after`. */
  facts: Facts;
  /** It has led to a record that was not there before. */
  isNew: boolean;
}

/** Judges a transition; the text says which rule it breaks, and how. */
export type Check = (played: Played) => string | undefined;

/**
 * The records that were reached, each once. Each request is played once on each record, however many
 * states have the record in common.
 */
export interface Records {
  readonly first: number;
  readonly size: () => number;
  /** How many requests were played. */
  readonly played: () => number;
  facts: (record: number) => Facts;
  send: (record: number, request: Request, clock: Clock) => Effect;
}

interface KnownRecord {
  keyspace: Keyspace;
  facts: Facts;
  /** Of the requests that were sent to it, by their numbers. */
  effects: Map<number, Effect>;
}

export function createRecords(play: Play, check: Check): Records {
  let now = timeAt(0);
  const records: KnownRecord[] = [];
  const numbers = new Map<string, number>();
  const requests = new Map<string, number>();
  let played = 0;

  function add(keyspace: Keyspace): number {
    const text = keyspace.fingerprint(project) + openTexts(keyspace);
    const hash = createHash('md5').update(text).digest('base64');
    let number = numbers.get(hash);
    if (number === undefined) {
      number = records.push({ keyspace, facts: factsOf(keyspace), effects: new Map() }) - 1;
      numbers.set(hash, number);
    }
    return number;
  }

  function record(number: number): KnownRecord {
    const found = records[number];
    if (found === undefined) throw new Error(`there is no record ${String(number)}`);
    return found;
  }

  function send(from: number, request: Request, clock: Clock): Effect {
    let number = requests.get(request.key);
    if (number === undefined) {
      number = requests.size;
      requests.set(request.key, number);
    }
    const { effects } = record(from);
    let effect = effects.get(number);
    if (effect === undefined) {
      now = timeAt(clock);
      effect = playOn(from, request);
      played += 1;
      effects.set(number, effect);
    }
    return effect;
  }

  function playOn(from: number, request: Request): Effect {
    const { keyspace: before, facts } = record(from);
    const copied = copyOnWrite(before);
    const call = request.toCall(facts);
    let reply: unknown;
    try {
      reply = play(copied.keyspace, call);
    } catch (error) {
      const violation = `P3, every request gets a reply: ${request.key} fails with ${String(error)}`;
      return { to: from, reply: { kind: 'failed' }, violation };
    }
    const after = copied.written();
    if (after === undefined) return { to: from, reply: toReply(reply), violation: undefined };
    const known = records.length;
    const to = add(after);
    const isNew = to === known;
    const played = { play, call, reply, before, after, facts: record(to).facts, isNew };
    return { to, reply: toReply(reply), violation: check(played) };
  }

  return {
    first: add(createKeyspace({ now: () => now })),
    size: () => records.length,
    played: () => played,
    facts: (number) => record(number).facts,
    send,
  };
}

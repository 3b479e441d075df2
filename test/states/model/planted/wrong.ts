import type { Session } from '../../../../session/tree.js';
import type { Data, Stored } from '../record/data.js';
import {
  CHANGES,
  decideOn,
  play,
  toReply,
  type ChangeName,
  type InputOf,
  type Play,
  type Reply,
} from '../record/play.js';

/** Builders of wrong decisions out of the right ones. */

type What = ChangeName | 'append';

/** Skips some writes, of one kind of request or of all. */
export function without(isSkipped: (write: Stored) => boolean, what?: What): Play {
  return altering((write) => (isSkipped(write) ? [] : [write]), what);
}

/** Drops some fields of a place where they are set. */
export function withoutFields(
  place: string,
  isSkipped: (name: string) => boolean,
  what?: What,
): Play {
  return altering((write) => {
    if (write[0] !== 'set' || write[1] !== place) return [write];
    const [kind, of, part, ...pairs] = write;
    const kept = pairs.filter((_, at) => !isSkipped(pairs[at - (at % 2)] ?? ''));
    return kept.length === 0 ? [] : [[kind, of, part, ...kept]];
  }, what);
}

function altering(alter: (write: Stored) => Stored[], what?: What): Play {
  return (data, sent, now) => {
    const outcome = play(data, sent, now);
    const isRight = what !== undefined && sent.what !== what;
    return isRight ? outcome : { ...outcome, writes: outcome.writes.flatMap(alter) };
  };
}

/** Replaces the decision of one change or of all. */
export function instead<Name extends ChangeName>(
  what: Name | undefined,
  wrong: (session: Session, input: InputOf<Name>, right: (input: InputOf<Name>) => Reply) => Reply,
): Play {
  return (data, sent, now) => {
    if (sent.what === 'append' || (what !== undefined && sent.what !== what))
      return play(data, sent, now);
    const decide = CHANGES[sent.what] as (session: Session, input: InputOf<Name>) => unknown;
    return decideOn(data, sent, now, (session, input) =>
      wrong(session, input as InputOf<Name>, (given) => toReply(decide(session, given))),
    );
  };
}

type Does<Name extends ChangeName> = (session: Session, input: InputOf<Name>) => void;

/** Acts before a change is decided. */
export function before<Name extends ChangeName>(what: Name, wrong: Does<Name>): Play {
  return instead(what, (session, input, right) => {
    wrong(session, input);
    return right(input);
  });
}

/** Acts after one change, or any, has been decided. */
export function after<Name extends ChangeName>(what: Name | undefined, wrong: Does<Name>): Play {
  return instead(what, (session, input, right) => {
    const reply = right(input);
    wrong(session, input);
    return reply;
  });
}

/** Replaces the arguments of appends. */
export function appending(wrong: (args: readonly string[], data: Data) => readonly string[]): Play {
  return (data, sent, now) =>
    play(data, sent.what === 'append' ? { ...sent, args: wrong(sent.args, data) } : sent, now);
}

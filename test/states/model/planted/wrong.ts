import type { Session } from '../../../../session/tree.js';
import type { Data, Stored } from '../record/data.js';
import {
  CHANGES,
  decideOn,
  play,
  toReply,
  type ChangeName,
  type Decide,
  type InputOf,
  type Play,
  type Reply,
} from '../record/play.js';

/** Wrong decisions, made of the right ones. */

type What = ChangeName | 'append';

/** Leaves out some writes of a request, or of all. */
export function without(isSkipped: (write: Stored) => boolean, what?: What): Play {
  return altering((write) => (isSkipped(write) ? [] : [write]), what);
}

/** Leaves some fields of a place out where they are set. */
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

type Wrong<Name extends ChangeName, Result> = (session: Session, input: InputOf<Name>) => Result;

/** Does something before a change. */
export function before<Name extends ChangeName>(what: Name, wrong: Wrong<Name, void>): Play {
  return instead(what, (session, input, right) => {
    wrong(session, input);
    return right(session, input);
  });
}

/** Does something after a change, which has replied. */
export function after<Name extends ChangeName>(what: Name, wrong: Wrong<Name, void>): Play {
  return instead(what, (session, input, right) => {
    const reply = right(session, input);
    wrong(session, input);
    return reply;
  });
}

/** Does something after every change of a conversation. */
export function always(wrong: (conversation: Session) => void): Play {
  return (data, sent, now) => {
    if (sent.what === 'append') return play(data, sent, now);
    const right = CHANGES[sent.what] as Decide;
    return decideOn(data, sent, now, (session, input) => {
      const reply = right(session, input);
      wrong(session.tree.conversation);
      return reply;
    });
  };
}

/** Makes a change with another input. */
export function given<Name extends ChangeName>(
  what: Name,
  wrong: (input: InputOf<Name>) => InputOf<Name>,
): Play {
  return instead(what, (session, input, right) => right(session, wrong(input)));
}

/** Replaces the reply of a change. */
export function replying<Name extends ChangeName>(
  what: Name,
  wrong: (reply: Reply, input: InputOf<Name>) => Reply,
): Play {
  return instead(what, (session, input, right) => wrong(toReply(right(session, input)), input));
}

/** Decides something else in place of a change. */
export function instead<Name extends ChangeName>(
  what: Name,
  wrong: (session: Session, input: InputOf<Name>, right: Decide) => unknown,
): Play {
  return (data, sent, now) => {
    if (sent.what !== what) return play(data, sent, now);
    const right = CHANGES[what] as Decide;
    return decideOn(data, sent, now, (session, input) =>
      wrong(session, input as InputOf<Name>, right),
    );
  };
}

/** Appends with other arguments. */
export function appending(wrong: (args: readonly string[], data: Data) => readonly string[]): Play {
  return (data, sent, now) =>
    play(data, sent.what === 'append' ? { ...sent, args: wrong(sent.args, data) } : sent, now);
}

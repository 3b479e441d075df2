import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import { play, type Play } from '../record/play.js';
import type { Call } from '../requests/request.js';

/** Wrong transitions, made of the right ones. */

export type Commands = Pick<Keyspace, 'call'>;
type IsSkipped = (key: string, args: string) => boolean;

/** Leaves out the commands of a kind in some transitions, or in all. */
export function without(command: string, isSkipped: IsSkipped, ...transitions: string[]): Play {
  return of(transitions, ({ call }, sent) => {
    const skipping: Keyspace['call'] = (name, ...args) => {
      const [key = '', ...rest] = args.map(String);
      const isLeftOut = name === command && isSkipped(key, rest.join(' '));
      if (!isLeftOut) return call(name, ...args);
      return name === 'XADD' ? '0-0' : 0;
    };
    return play({ call: skipping }, sent);
  });
}

/** Leaves some fields of a hash out where they are set. */
export function withoutFields(
  hash: string,
  isSkipped: (field: string, value: string) => boolean,
): Play {
  return of([], ({ call }, sent) => {
    const skipping: Keyspace['call'] = (name, ...args) => {
      if (name !== 'HSET' || args[0] !== hash) return call(name, ...args);
      const kept: string[] = [];
      for (let at = 1; at < args.length; at += 2) {
        const [field, value] = [String(args[at]), String(args[at + 1])];
        if (!isSkipped(field, value)) kept.push(field, value);
      }
      return kept.length === 0 ? 0 : call(name, hash, ...kept);
    };
    return play({ call: skipping }, sent);
  });
}

/** Does something before a transition. */
export function before(transition: string, change: (commands: Commands, sent: Call) => void): Play {
  return of([transition], (commands, sent) => {
    change(commands, sent);
    return play(commands, sent);
  });
}

/** Does something after a transition, which has replied. */
export function after(transition: string, change: (commands: Commands, sent: Call) => void): Play {
  return of([transition], (commands, sent) => {
    const reply = play(commands, sent);
    change(commands, sent);
    return reply;
  });
}

/** Runs a transition with other arguments. */
export function given(
  transition: string,
  change: (commands: Commands, args: string[]) => string[],
): Play {
  return of([transition], (commands, sent) =>
    play(commands, { ...sent, args: change(commands, [...sent.args]) }),
  );
}

/** Does something else in place of a transition. */
export function instead(transition: string, change: (commands: Commands) => string): Play {
  return of([transition], change);
}

/** Replaces the reply of a transition. */
export function replying(transition: string, change: (reply: string, sent: Call) => string): Play {
  return of([transition], (commands, sent) => change(play(commands, sent) as string, sent));
}

/** Applies a wrong transition in place of the right ones of these names; without names, of all. */
function of(transitions: readonly string[], wrong: Play): Play {
  return (commands, sent) => {
    const isWrong = transitions.length === 0 || transitions.includes(sent.args[0] ?? '');
    return isWrong ? wrong(commands, sent) : play(commands, sent);
  };
}

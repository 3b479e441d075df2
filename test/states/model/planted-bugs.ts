import { setBusy } from '../../../session/settling.js';
import type { Session } from '../../../session/tree.js';
import type { Budget } from './environment.js';
import { REPEAT_RULE } from './invariants/index.js';
import { fieldsOf, type Data, type Stored } from './record/data.js';
import {
  CHANGES,
  decideOn,
  play,
  toReply,
  type ChangeName,
  type InputOf,
  type Play,
  type Reply,
} from './record/play.js';

/** A wrong decision, and the rules that it breaks. */
interface Wrong {
  rules: readonly string[];
  play: Play;
  /** Budget that the bug needs in addition to one message. */
  budget?: Partial<Budget>;
}

export type PlantedBug = Omit<Wrong, 'rules'> & { rule: string; bug: string };

/** The wrong decisions, by what is wrong. */
const WRONG: Readonly<Record<string, Wrong>> = {
  'append does not count what it has written': {
    rules: ['P1, sequences ascend, and the record counts them all'],
    play: without(([kind]) => kind === 'count', 'append'),
  },
  'claim withdraws all entries, not only those of its writer': {
    rules: ['P1, an entry stays in the log, unless another attempt claims its writer'],
    play: after('claim', ({ tree: { log } }) => {
      log.remove(log.after(0, Infinity));
    }),
  },
  'append takes any token for that of the owner': {
    rules: ['P1, only the owner of a writer appends to it', 'P1, a stale request is refused'],
    play: appending((args, data) => {
      const owner = fieldsOf(data, '', 'writers')?.get(`t:${args[1] ?? ''}`);
      return owner === undefined ? args : args.with(2, owner);
    }),
    budget: { stops: 1 },
  },
  'claim does not withdraw what a lost attempt has appended': {
    rules: ['P1, what was appended live is what is stored, once'],
    play: without(([kind]) => kind === 'remove', 'claim'),
    budget: { faults: 1 },
  },
  'a result is stored without its entry in the log': {
    rules: ['P1, the log has one end of each settled call'],
    play: without(adds('tool_end'), 'settleCall'),
  },
  'a stop is not shown to appends': {
    rules: ['P1, what an append looks at is what the record says'],
    play: withoutFields('record', (name) => name === 'live', 'stop'),
    budget: { stops: 1 },
  },
  'claim does not take results into the transcript': {
    rules: ['P4, each call has one result, before the next message'],
    play: without(
      (write) => write[0] === 'push' && write.some((row) => row.includes('"role":"tool"')),
    ),
  },
  'a call is settled without its result': {
    rules: ['P4, a call is open, or its one result is in the transcript'],
    play: after('settleCall', ({ content }) => {
      content.unset('row:t');
    }),
  },
  'the result of one call replaces that of another': {
    rules: ['P4, a result is never replaced, a timeout only by the result itself'],
    play: after('settleCall', ({ calls, content }) => {
      if (calls.get('t')?.state === 'settled') content.set('row:a', content.get('row:t') ?? '');
    }),
  },
  'a settled call takes another answer': {
    rules: ['P4, an answer is consumed once', 'P4, a stale request is refused'],
    play: before('settleCall', ({ calls }) => {
      const call = calls.get('a');
      if (call?.state === 'settled') call.state = 'waiting';
    }),
  },
  'a denied call is released with the approved ones': {
    rules: ['P5, a call starts only once a person has approved it'],
    play: after('settleCall', ({ calls }, { source, isApproved }) => {
      const call = calls.get('a');
      if (call !== undefined && source === 'approval' && !isApproved) call.state = 'approved';
    }),
  },
  'a denial is taken for an approval': {
    rules: ['P5, a call is executed only once a person has approved it'],
    play: instead('settleCall', (_, input, right) =>
      right({ ...input, isApproved: input.source === 'approval' || input.isApproved }),
    ),
  },
  'a call that waits for its approval starts': {
    rules: ['P5, a stale request is refused'],
    play: before('startCall', (session) => {
      const call = session.calls.get('a');
      if (call?.state !== 'waiting') return;
      call.state = 'approved';
      setBusy(session, call, true);
    }),
  },
  'every call is taken for idempotent': {
    rules: [
      'P4, only an idempotent call starts twice',
      'P4, only an idempotent tool is executed twice',
    ],
    play: before('startCall', ({ calls }) => {
      const call = calls.get('t');
      if (call !== undefined) call.isIdempotent = true;
    }),
    budget: { faults: 1 },
  },
  'an idempotent call starts once more after its result was stored': {
    rules: ['P4, a settled call is not executed'],
    play: instead('startCall', (_, input, right) => {
      const reply = right(input);
      const isSettled = reply.kind === 'settled' && input.toolCallId === 'u';
      return isSettled ? { kind: 'execute' } : reply;
    }),
    budget: { faults: 1 },
  },
  'stop ends the run and leaves its calls': {
    rules: ["P6, a run that has ended leaves no call open, neither its own nor a sub-agent's"],
    play: instead('stop', ({ existing }) => {
      existing.run.status = 'interrupted';
      return { kind: 'nothing' };
    }),
    budget: { stops: 1 },
  },
  'commit ends the run and does not note its end': {
    rules: ['P4, all runs before the newest have ended, and the newest if its status says so'],
    play: without(
      ([kind, place, part]) => kind === 'set' && place === 'runs' && part === '',
      'commit',
    ),
  },
  'the log does not get the end of a run': {
    rules: ['P4, the log has one end of each ended run'],
    play: without(adds('stream_end')),
  },
  'begin stores the message twice': {
    rules: ['P4, an accepted message is in the transcript once, or in the queue'],
    play: after('begin', ({ rows }) => void rows.push('{"role":"user","id":"u1"}')),
  },
  'begin takes a live run for one that has ended': {
    rules: ['P4, a run begins only when the one before has ended'],
    play: before('begin', ({ record }) => {
      if (record !== undefined) record.run.status = 'completed';
    }),
    budget: { messages: 2 },
  },
  'claim skips a step': {
    rules: ['P4, steps are committed one after the other, each after its claim'],
    play: after('claim', ({ existing }) => {
      existing.run.claimed += 1;
    }),
  },
  'the texts of a call stay when its result is taken in': {
    rules: ['P4, what stands beside the record belongs to what is in it'],
    play: without(([kind, place]) => kind === 'unset' && place === 'content'),
  },
  'begin does not note which messages it has accepted': {
    rules: [REPEAT_RULE],
    play: withoutFields('index', (name) => name.startsWith('m:')),
  },
  'stop leaves a call busy': {
    rules: ['P3, a run that has ended leaves nothing to do'],
    play: after('stop', ({ existing }) => {
      existing.run.busyCalls = 1;
    }),
    budget: { stops: 1 },
  },
  'stop ends the run and not the stream': {
    rules: ['P3, the status of the run agrees with that of the stream'],
    play: after('stop', ({ existing }) => {
      existing.stream = 'active';
    }),
    budget: { stops: 1 },
  },
  'the run does not pause when its last tool has settled': {
    rules: ['P3, a run is paused if, and only if, people alone can continue it'],
    play: after(undefined, ({ tree }) => {
      const { record } = tree.conversation;
      if (record?.stream === 'paused') record.stream = 'active';
    }),
  },
  'a call is no longer busy when it starts': {
    rules: ['P3, what can continue without people is busy'],
    play: after('startCall', (session) => {
      const call = session.calls.get('t');
      if (call !== undefined) setBusy(session, call, false);
    }),
  },
  'the run pauses without an entry in the log': {
    rules: ['P3, a pause is in the log, shows what is asked, and starts the clocks'],
    play: without(adds('run_paused')),
  },
  'an answer does not note what it has released, and its signal is lost': {
    rules: [
      'P3, what answers have released is kept until it is taken',
      'P3, rest is reachable from every state',
    ],
    play: after(undefined, ({ tree }) => {
      delete tree.conversation.record?.run.resume;
    }),
    budget: { faults: 1 },
  },
  'startCall does not know its call': {
    rules: ['P3, a call has a defined outcome'],
    play: instead('startCall', () => ({ kind: 'unknown' })),
  },
  'begin leaves the expiry that the last run has armed': {
    rules: ['P2, nothing of a live run expires'],
    play: without((write) => isLogExpiry(write) && write[3] === undefined),
    budget: { messages: 2, stops: 1 },
  },
  'the end of a run does not arm the expiry of its log': {
    rules: ['P2, the log of a run that has ended expires'],
    play: without((write) => isLogExpiry(write) && write[3] !== undefined),
  },
};

export const PLANTED_BUGS: readonly PlantedBug[] = Object.entries(WRONG).flatMap(
  ([bug, { rules, ...wrong }]) => rules.map((rule) => ({ rule, bug, ...wrong })),
);

/** Returns a matcher for writes that append an entry of a type to the log. */
function adds(type: string): (write: Stored) => boolean {
  return (write) => write[0] === 'add' && write[3].includes(`"type":"${type}"`);
}

function isLogExpiry(write: Stored): boolean {
  return write[0] === 'expire' && write[1] === 'log';
}

/** Builders of wrong decisions out of the right ones. */

type What = ChangeName | 'append';

/** Skips some writes, of one kind of request or of all. */
function without(isSkipped: (write: Stored) => boolean, what?: What): Play {
  return altering((write) => (isSkipped(write) ? [] : [write]), what);
}

/** Drops some fields of a place where they are set. */
function withoutFields(place: string, isSkipped: (name: string) => boolean, what?: What): Play {
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
function instead<Name extends ChangeName>(
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
function before<Name extends ChangeName>(what: Name, wrong: Does<Name>): Play {
  return instead(what, (session, input, right) => {
    wrong(session, input);
    return right(input);
  });
}

/** Acts after one change, or any, has been decided. */
function after<Name extends ChangeName>(what: Name | undefined, wrong: Does<Name>): Play {
  return instead(what, (session, input, right) => {
    const reply = right(input);
    wrong(session, input);
    return reply;
  });
}

/** Replaces the arguments of appends. */
function appending(wrong: (args: readonly string[], data: Data) => readonly string[]): Play {
  return (data, sent, now) =>
    play(data, sent.what === 'append' ? { ...sent, args: wrong(sent.args, data) } : sent, now);
}

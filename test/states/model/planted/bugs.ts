import type { Budget } from '../environment.js';
import { REPEAT_RULE } from '../invariants/repeats.js';
import { SESSION } from '../plan.js';
import type { Play } from '../record/play.js';
import { keysOf } from '../requests/request.js';
import {
  after,
  before,
  given,
  instead,
  replying,
  without,
  withoutFields,
  type Commands,
} from './wrong.js';

/** A wrong transition, and the rule that it breaks. */
export interface PlantedBug {
  rule: string;
  bug: string;
  play: Play;
  /** What it takes to find it, beside one message. */
  budget?: Partial<Budget>;
}

const keys = keysOf(SESSION);

const LOG_BUGS: readonly PlantedBug[] = [
  {
    rule: 'P1, sequences ascend, and the record counts them all',
    bug: 'append does not count what it has written',
    play: without('HSET', (key, args) => key === keys.root && args.startsWith('seq '), 'append'),
  },
  {
    rule: 'P1, an entry stays in the log, unless another attempt claims its writer',
    bug: 'claim withdraws all entries, not only those of its writer',
    play: after('claim', ({ call }) => call('UNLINK', keys.stream)),
  },
  {
    rule: 'P1, only the owner of a writer appends to it',
    bug: 'append takes any token for that of the owner',
    play: given('append', ({ call }, args) =>
      args.with(3, String(call('HGET', keys.writers, `t:${args[2] ?? ''}`) || args[3])),
    ),
    budget: { stops: 1 },
  },
  {
    rule: 'P1, what was appended live is what is stored, once',
    bug: 'claim does not withdraw what a lost attempt has appended',
    play: without('XDEL', () => true, 'claim'),
    budget: { faults: 1 },
  },
  {
    rule: 'P1, the log has one end of each settled call',
    bug: 'a result is stored without its entry in the log',
    play: without('XADD', (_, args) => args.includes('"type":"tool_end"'), 'settleCall'),
  },
  {
    rule: 'P1, a stale request is refused',
    bug: 'append takes any token for that of the owner',
    play: given('append', ({ call }, args) =>
      args.with(3, String(call('HGET', keys.writers, `t:${args[2] ?? ''}`) || args[3])),
    ),
  },
];

const CALL_BUGS: readonly PlantedBug[] = [
  {
    rule: 'P4, each call has one result, before the next message',
    bug: 'claim does not take results into the transcript',
    play: without('RPUSH', (key, args) => key === keys.rows && args.includes('"role":"tool"')),
  },
  {
    rule: 'P4, a call is open, or its one result is in the transcript',
    bug: 'a call is settled without its result',
    play: after('settleCall', ({ call }) => call('HDEL', keys.calls, 'row:t')),
  },
  {
    rule: 'P4, a result is never replaced, a timeout only by the result itself',
    bug: 'the result of one call replaces that of another',
    play: after('settleCall', ({ call }) => {
      if (call('HGET', keys.calls, 'state:t') === 'settled') {
        call('HSET', keys.calls, 'row:a', String(call('HGET', keys.calls, 'row:t')));
      }
    }),
  },
  {
    rule: 'P4, an answer is consumed once',
    bug: 'a settled call takes another answer',
    play: before('settleCall', reopen),
  },
  {
    rule: 'P4, a stale request is refused',
    bug: 'a settled call takes another answer',
    play: before('settleCall', reopen),
  },
  {
    rule: 'P5, a call starts only once a person has approved it',
    bug: 'a denied call is released with the approved ones',
    play: after('settleCall', ({ call }, { args }) => {
      if (args.join().includes('"approved":false')) call('HSET', keys.calls, 'state:a', 'approved');
    }),
  },
  {
    rule: 'P5, a call is executed only once a person has approved it',
    bug: 'a denial is taken for an approval',
    play: given('settleCall', (_, args) =>
      args.map((arg) => arg.replace('"isApproved":false', '"isApproved":true')),
    ),
  },
  {
    rule: 'P5, a stale request is refused',
    bug: 'a call that waits for its approval starts',
    play: before('startCall', ({ call }) => {
      if (call('HGET', keys.calls, 'state:a') === 'waiting') {
        call('HSET', keys.calls, 'state:a', 'approved');
      }
    }),
  },
  {
    rule: 'P4, only an idempotent call starts twice',
    bug: 'every call is taken for idempotent',
    play: before('startCall', ({ call }) => call('HSET', keys.calls, 'again:t', '1')),
    budget: { faults: 1 },
  },
  {
    rule: 'P4, only an idempotent tool is executed twice',
    bug: 'every call is taken for idempotent',
    play: before('startCall', ({ call }) => call('HSET', keys.calls, 'again:t', '1')),
    budget: { faults: 1 },
  },
  {
    rule: 'P4, a settled call is not executed',
    bug: 'an idempotent call starts once more after its result was stored',
    play: replying('startCall', (reply, { args }) => {
      const isSettled = reply.includes('"kind":"settled"') && args.join().includes('"u"');
      return isSettled ? '{"kind":"execute"}' : reply;
    }),
    budget: { faults: 1 },
  },
  {
    rule: "P6, a run that has ended leaves no call open, neither its own nor a sub-agent's",
    bug: 'stop ends the run and leaves its calls',
    play: instead('stop', ({ call }) => {
      call('HSET', keys.root, 'status', 'interrupted');
      return '{"kind":"nothing"}';
    }),
    budget: { stops: 1 },
  },
];

const RUN_BUGS: readonly PlantedBug[] = [
  {
    rule: 'P4, all runs before the newest have ended, and the newest if its status says so',
    bug: 'commit ends the run and does not note its end',
    play: without('HSET', (key) => key === keys.runs, 'commit'),
  },
  {
    rule: 'P4, the log has one end of each ended run',
    bug: 'the log does not get the end of a run',
    play: without('XADD', (_, args) => args.includes('"type":"stream_end"')),
  },
  {
    rule: 'P4, an accepted message is in the transcript once, or in the queue',
    bug: 'begin stores the message twice',
    play: after('begin', ({ call }) => call('RPUSH', keys.rows, '{"role":"user","id":"u1"}')),
  },
  {
    rule: 'P4, a run begins only when the one before has ended',
    bug: 'begin takes a live run for one that has ended',
    play: before('begin', ({ call }) => {
      if (call('EXISTS', keys.root) === 1) call('HSET', keys.root, 'status', 'completed');
    }),
    budget: { messages: 2 },
  },
  {
    rule: 'P4, steps are committed one after the other, each after its claim',
    bug: 'claim skips a step',
    play: after('claim', ({ call }) => call('HINCRBY', keys.root, 'claimed', 1)),
  },
  {
    rule: REPEAT_RULE,
    bug: 'begin does not note which messages it has accepted',
    play: without('HSET', (key) => key === keys.messages),
  },
];

const STATUS_BUGS: readonly PlantedBug[] = [
  {
    rule: 'P3, a run that has ended leaves nothing to do',
    bug: 'stop leaves its calls in the busy set',
    play: after('stop', ({ call }) => call('SADD', keys.busy, 't')),
    budget: { stops: 1 },
  },
  {
    rule: 'P3, the status of the run agrees with that of the stream',
    bug: 'stop ends the run and not the stream',
    play: after('stop', ({ call }) => call('HSET', keys.root, 'stream', 'active')),
    budget: { stops: 1 },
  },
  {
    rule: 'P3, a run is paused if, and only if, people alone can continue it',
    bug: 'the run does not pause when its last tool has settled',
    play: withoutFields(keys.root, (field, value) => field === 'stream' && value === 'paused'),
  },
  {
    rule: 'P3, the busy set has what can continue without people',
    bug: 'a call leaves the busy set when it starts',
    play: after('startCall', ({ call }) => call('SREM', keys.busy, 't')),
  },
  {
    rule: 'P3, a pause is in the log, shows what is asked, and starts the clocks',
    bug: 'the run pauses without an entry in the log',
    play: without('XADD', (_, args) => args.includes('"type":"run_paused"')),
  },
  {
    rule: 'P3, what answers have released is kept until it is taken',
    bug: 'an answer does not note what it has released',
    play: withoutFields(keys.root, (field) => field === 'resume'),
  },
  {
    rule: 'P3, rest is reachable from every state',
    bug: 'an answer does not note what it has released, and its signal is lost',
    play: withoutFields(keys.root, (field) => field === 'resume'),
    budget: { faults: 1 },
  },
  {
    rule: 'P3, a call has a defined outcome',
    bug: 'startCall does not know its call',
    play: replying('startCall', () => '{"kind":"unknown"}'),
  },
  {
    rule: 'P2, nothing of a live run expires',
    bug: 'begin leaves the expiry that the last run has armed',
    play: without('PERSIST', () => true),
    budget: { messages: 2, stops: 1 },
  },
  {
    rule: 'P2, the log of a run that has ended expires',
    bug: 'the end of a run does not arm the expiry of its log',
    play: without('EXPIRE', (key) => key === keys.stream),
  },
];

export const PLANTED_BUGS = [...LOG_BUGS, ...CALL_BUGS, ...RUN_BUGS, ...STATUS_BUGS];

/** Forgets that the approval is settled. */
function reopen({ call }: Commands): void {
  if (call('HGET', keys.calls, 'state:a') === 'settled') {
    call('HSET', keys.calls, 'state:a', 'waiting');
  }
}

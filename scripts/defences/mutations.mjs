// All defences, each with an edit that takes it out and the test that must then fail.
// `edits` are pairs of a text that stands in the file exactly once, and what comes in its place.
import { attempts } from './attempt-mutations.mjs';
import { bridge } from './bridge-mutations.mjs';
import { checkOrder } from './check-order-mutations.mjs';
import { clients } from './client-mutations.mjs';
import { deadlines } from './deadline-mutations.mjs';
import { edge } from './edge-mutations.mjs';
import { inbox } from './inbox-mutations.mjs';
import { ports } from './ports-mutations.mjs';
import { providers } from './provider-mutations.mjs';
import { queue } from './queue-mutations.mjs';
import { quotas } from './quota-mutations.mjs';
import { readers } from './reader-mutations.mjs';
import { remote } from './remote-mutations.mjs';
import { resumes } from './resume-mutations.mjs';
import { rewinds } from './rewind-mutations.mjs';
import { runs } from './run-mutations.mjs';
import { subAgents } from './sub-agent-mutations.mjs';
import { upgrade } from './upgrade-mutations.mjs';
import { workers } from './worker-mutations.mjs';

const SUITE = 'test/stores/conformance/memory.test.ts';
const TRANSITIONS = 'stores/transitions';

const transitions = [
  {
    defence: 'Beginning: the state that was given is stored with it',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["if (state !== '') putState(session, state);\n", '']],
    test: 'begin replaces the state together with the beginning, and only then',
  },
  {
    defence: 'Fence: append of a lower token is refused',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (owner[0] !== token) return [FENCED];\n', '']],
    test: 'claim of a lower token is refused, and so is that writer at its next write',
  },
  {
    defence: 'Fence: claim of a lower token is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["  if (owner.token > token) return only('fenced');\n", '']],
    test: 'claim of a lower token is refused, and so is that writer at its next write',
  },
  {
    defence: 'Fence: commit of a lower token is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [['num(owner) !== token || ', '']],
    test: 'commit of a zombie is refused',
  },
  {
    defence: 'Fence: result of an attempt that was not permitted is refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["isOwner && state === 'started'", "state === 'started'"]],
    test: 'settle call, a tool takes a result from the attempt that was permitted, and from no other',
  },
  {
    defence: 'Batch numbers: a batch seen before is not stored again',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['&& last >= toNumber(batch)', '&& false']],
    test: 'append gives a batch that was seen before its first reply and writes nothing',
  },
  {
    defence: 'Batch numbers: none may be missing',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (last !== toNumber(batch) - 1) return [REWOUND];\n', '']],
    test: 'append writes nothing over a gap: to a writer that was told more it says rewound',
  },
  {
    defence: 'Writer tag: only the writer’s own entries are withdrawn',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['if (entry[1] === writer) {', 'if (true) {']],
    test: 'claim of a higher token leaves what another writer said in between',
  },
  {
    defence: 'Writer tag: entries before the claim stay',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['`(${first}-0`', "'-'"]],
    test: 'claim of a higher token leaves what the same step of an earlier turn said',
  },
  {
    defence: 'Explicit ids: Redis does not choose them',
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [["log.stream, `${id}-0`, 'w'", "log.stream, '*', 'w'"]],
    suite: 'test/stores/conformance/redis.test.ts',
    test: 'append numbers entries from 1 without gaps and tells the number of the last one',
  },
  {
    defence: 'Known sequence: append is refused over a gap',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (toNumber(seq) < toNumber(known)) return [REWOUND];\n', '']],
    test: 'append writes nothing over a gap: to a writer that was told more it says rewound',
  },
  {
    defence: 'Known sequence: claim on an older store is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [['num(root.seq) < known || ', '']],
    test: 'order of checks claim: a store that lags behind before a run it does not know',
  },
  {
    defence: 'Known run: a run that the store never heard of is no superseded one',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [[' || num(root.runN) < runN', '']],
    test: 'order of checks claim: a store that lags behind before a run it does not know',
  },
  {
    defence: 'Known sequence: commit on an older store is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [["  if (num(root.seq) < request.known) return only('rewound');\n", '']],
    test: 'commit writes nothing for a writer that was told more than the store has',
  },
  {
    defence: 'One run per session',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["    if (policy === 'reject' && !abandons) return only('busy');\n", '']],
    test: 'begin lets exactly one of many posts at the same moment make a run',
  },
  {
    defence: 'A message is accepted once',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (known !== undefined) {', 'if (false) {']],
    test: 'begin accepts a message once, also while its run goes on and after it has ended',
  },
  {
    defence: 'A message is accepted once, whatever hidden context comes before it',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (!message.hidden) hidden = [];', '']],
    test: 'begin takes messages for a repetition that people see, behind hidden ones of another id',
  },
  {
    defence: 'Ends: an interrupted run keeps its error for viewers',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (error !== '') fields.push('error', error);", '']],
    test: 'end of a run that was broken off keeps what viewers are told',
  },
  {
    defence: 'Generation: an erased session is not taken for the next one of its id',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["'born', nonce", "'born', 'always'"]],
    test: 'claim tells a session from an erased one of the same id',
  },
  {
    defence: 'A started call is not executed again',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [["if (call.again !== '1' || (isTaken", 'if ((isTaken']],
    test: 'start call never permits a started call again: its outcome is unknown, said once',
  },
  {
    defence: 'An unknown outcome withdraws the state changes of its call',
    file: `${TRANSITIONS}/lib/settling.ts`,
    edits: [["if (code === 'tool_outcome_unknown') undoPatches(session, log, speaker, id);\n", '']],
    test: 'start call of an unknown outcome takes back what was told of the state, and silences the attempt',
  },
  {
    defence: 'An attempt whose call was settled as unknown is silenced',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [['      releaseWriter(session, name);\n', '']],
    test: 'start call of an unknown outcome takes back what was told of the state, and silences the attempt',
  },
  {
    defence: 'A repeated call tells viewers what is gone',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [['if (before.removed) tellOf', 'if (false) tellOf']],
    test: 'start call again withdraws what the first one wrote, and nothing of its siblings',
  },
  {
    defence: 'Of two calls that end a run the first says with what',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["'HSETNX', session.root, 'output',", "'HSET', session.root, 'output',"]],
    test: 'changes that calls settle with come with what the run came to, which the first one says',
  },
  {
    defence: 'An approved call is not executed before its batch is answered',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [["redis.call('SISMEMBER', session.busy, toolCallId) === 0", 'false']],
    test: 'start call refuses an approved call until the last answer of its batch',
  },
  {
    defence: 'The first answer wins',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["  if (state !== 'waiting' && !isLate) return only('already_completed');\n", '']],
    test: 'settle call, an approval lets the first of many decisions win',
  },
  {
    defence: 'The first result of a client wins',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["call.state === 'settled' || ", ''],
      ["  if (state !== 'waiting' && !isLate) return only('already_completed');\n", ''],
    ],
    test: 'settle call, a client lets the first of many results win',
  },
  {
    defence: 'Settled calls are remembered after their step',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [[' || wasTakenIn(session, id)', '']],
    test: 'settle call, an approval says already completed to late duplicates, in later steps and turns too',
  },
  {
    defence: 'An attempt that gives its result again gets the first reply',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      [
        'return `{"kind":"stored","sequence":${seq ?? \'0\'}}`;',
        "return only('already_completed');",
      ],
    ],
    test: 'settle call, a tool sent again gets the first reply, and is said once',
  },
  {
    defence: 'Only the attempt that gave the result gets that reply',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["if (owner === false || num(owner) !== writer.token) return only('already_completed');", ''],
    ],
    test: 'settle call, a tool sent again gets the first reply, and is said once',
  },
  {
    defence: 'Kind of the pending record: a client’s call is not approved',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["  if (source === 'approval' && kind !== 'approval') return only('kind_mismatch');\n", ''],
    ],
    test: 'settle call, an approval checks kind and run of the pending record',
  },
  {
    defence: 'Kind of the pending record: results of server tools are refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["  if (kind !== 'approval' && kind !== 'client') return only('kind_mismatch');\n", ''],
    ],
    test: 'settle call, a client may not give the result of a server tool, nor of another run',
  },
  {
    defence: 'Kind of the pending record: a client does not give an approval’s result',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["if (source === 'client' && kind === 'approval' && !isError)", 'if (false)']],
    test: 'settle call, a client may not give the result of an approval, but may call it off with an error',
  },
  {
    defence: 'Run of the pending record',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [['root.run !== runId || ', '']],
    test: 'settle call, an approval checks kind and run of the pending record',
  },
  {
    defence: 'Deadlines by the store’s clock',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      [
        '{ source, writer, isError }: SettleCallRequest',
        '{ source, writer, isError, now }: SettleCallRequest',
      ],
      ['num(deadline) - storeNow()', 'num(deadline) - now'],
    ],
    test: "settle call, a deadline passes by the store's clock, whatever the caller's says",
  },
  {
    defence: 'Fence: a writer that was taken over is refused',
    file: `${TRANSITIONS}/take-over.ts`,
    edits: [['num(owner) + 1', 'num(owner)']],
    test: 'take over fences a writer off, keeps what it wrote, and lets another commit in its place',
  },
  {
    defence: 'Usage of discarded attempts counts',
    file: `${TRANSITIONS}/discard.ts`,
    edits: [['  addUsage(session, usage);\n', '']],
    test: 'usage of steps and of discarded attempts is added up, once each',
  },
  {
    defence: 'A result is written by the transition that ends the run',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (result !== '') {", 'if (false) {']],
    test: 'output is written by the transition that ends the run, after the results of its siblings',
  },
];

export const mutations = [
  ...transitions,
  ...attempts,
  ...checkOrder,
  ...deadlines,
  ...queue,
  ...quotas,
  ...inbox,
  ...rewinds,
  ...resumes,
  ...subAgents,
  ...readers,
  ...runs,
  ...workers,
  ...bridge,
  ...edge,
  ...ports,
  ...providers,
  ...remote,
  ...clients,
  ...upgrade,
].map((mutation) => ({
  suite: SUITE,
  ...mutation,
}));

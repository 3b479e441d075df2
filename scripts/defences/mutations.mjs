// All defences, each with an edit that takes it out and the test that must then fail.
// `edits` are pairs of a text that stands in the file exactly once, and what comes in its place.
import { agents } from './agent-mutations.mjs';
import { attempts } from './attempt-mutations.mjs';
import { bridge } from './bridge-mutations.mjs';
import { checkOrder } from './check-order-mutations.mjs';
import { clients } from './client-mutations.mjs';
import { deadlines } from './deadline-mutations.mjs';
import { edge } from './edge-mutations.mjs';
import { hooks } from './hook-mutations.mjs';
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
    test: 'begin a state is replaced only if the run begins',
  },
  {
    defence: 'Fence: append of a lower token is refused',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (owner[0] !== token) return [FENCED];\n', '']],
    test: "claim a lower token is refused, and so is its writer's next write",
  },
  {
    defence: 'Fence: claim of a lower token is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["  if (owner.token > token) return only('fenced');\n", '']],
    test: "claim a lower token is refused, and so is its writer's next write",
  },
  {
    defence: 'Fence: commit of a lower token is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [['num(owner) !== token || ', '']],
    test: 'commit a commit of a fenced attempt is refused',
  },
  {
    defence: 'Fence: result of an attempt that was not permitted is refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["isOwner && state === 'started'", "state === 'started'"]],
    test: 'settle call, a tool only the attempt with permission can store a result',
  },
  {
    defence: 'Batch numbers: a batch seen before is not stored again',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['&& last >= toNumber(batch)', '&& false']],
    test: 'append a batch that was stored before gets its first reply and writes nothing',
  },
  {
    defence: 'Batch numbers: none may be missing',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (last !== toNumber(batch) - 1) return [REWOUND];\n', '']],
    test: 'append a writer that has seen more than the store holds gets rewound, and nothing is written',
  },
  {
    defence: 'Writer tag: only the writer’s own entries are withdrawn',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['if (entry[1] === writer) {', 'if (true) {']],
    test: 'claim a higher token keeps what another writer wrote in between',
  },
  {
    defence: 'Writer tag: entries before the claim stay',
    file: `${TRANSITIONS}/lib/attempts.ts`,
    edits: [['`(${first}-0`', "'-'"]],
    test: 'claim a higher token keeps what the same step of an earlier turn wrote',
  },
  {
    defence: 'Explicit ids: Redis does not choose them',
    file: `${TRANSITIONS}/lib/log.ts`,
    edits: [["log.stream, `${id}-0`, 'w'", "log.stream, '*', 'w'"]],
    suite: 'test/stores/conformance/redis.test.ts',
    test: 'append entries are numbered from 1 without gaps, and the reply has the last number',
  },
  {
    defence: 'Known sequence: append is refused over a gap',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['  if (toNumber(seq) < toNumber(known)) return [REWOUND];\n', '']],
    test: 'append a writer that has seen more than the store holds gets rewound, and nothing is written',
  },
  {
    defence: 'Known sequence: claim on an older store is refused',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["  if (num(seq) < known) return only('rewound');\n", '']],
    test: 'order of checks claim: a store that is behind comes before an unknown run',
  },
  {
    defence: 'Known run: a run that the store never heard of is no superseded one',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [
      ["num(readField(session, 'runN')) < request.runN ? 'rewound' : 'superseded'", "'superseded'"],
    ],
    test: 'order of checks claim: a store that is behind comes before an unknown run',
  },
  {
    defence: 'Known sequence: commit on an older store is refused',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [["  if (num(seq) < request.known) return only('rewound');\n", '']],
    test: 'commit a writer that has seen more than the store holds writes nothing',
  },
  {
    defence: 'One run per session',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["    if (policy === 'reject' && !abandons) return only('busy');\n", '']],
    test: 'begin of many concurrent posts exactly one starts a run',
  },
  {
    defence: 'A message is accepted once',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (known !== undefined) {', 'if (false) {']],
    test: 'begin a message is accepted once, while its run is active and after it has ended',
  },
  {
    defence: 'A message is accepted once, whatever hidden context comes before it',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if (!message.hidden) hidden = [];', '']],
    test: 'begin a hidden message before a visible accepted one counts as accepted',
  },
  {
    defence: 'Ends: an interrupted run keeps its error for viewers',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (error !== '') setFields(session, ['error', error]);", '']],
    test: 'end an aborted run keeps the error that viewers get',
  },
  {
    defence: 'Generation: an erased session is not taken for the next one of its id',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["'born', nonce", "'born', 'always'"]],
    test: 'claim a claim distinguishes a session from an erased one with the same id',
  },
  {
    defence: 'A started call is not executed again',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [["if (call.again !== '1' || (isTaken", 'if ((isTaken']],
    test: 'start call a started call is never permitted again: its outcome is unknown, and written once',
  },
  {
    defence: 'An unknown outcome withdraws the state changes of its call',
    file: `${TRANSITIONS}/lib/settling.ts`,
    edits: [["if (code === 'tool_outcome_unknown') undoPatches(session, log, speaker, id);\n", '']],
    test: 'start call an unknown outcome reverts announced state changes and silences the attempt',
  },
  {
    defence: 'An attempt whose call was settled as unknown is silenced',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [['      releaseWriter(session, name);\n', '']],
    test: 'start call an unknown outcome reverts announced state changes and silences the attempt',
  },
  {
    defence: 'A repeated call tells viewers what is gone',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [['if (before.removed) writeResync', 'if (false) writeResync']],
    test: 'start call a second execution withdraws what the first one wrote, and nothing of its siblings',
  },
  {
    defence: 'Of two calls that end a run the first says with what',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [[" && readField(session, 'output') === undefined", '']],
    test: 'changes that calls settle with the result of the run that comes with changes is the first one',
  },
  {
    defence: 'An approved call is not executed before its batch is answered',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [["redis.call('SISMEMBER', session.busy, toolCallId) === 0", 'false']],
    test: 'start call an approved call is refused until the last answer of its batch',
  },
  {
    defence: 'The first answer wins',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["  if (state !== 'waiting' && !isLate) return only('already_completed');\n", '']],
    test: 'settle call, an approval the first of many decisions wins',
  },
  {
    defence: 'The first result of a client wins',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["call.state === 'settled' || ", ''],
      ["  if (state !== 'waiting' && !isLate) return only('already_completed');\n", ''],
    ],
    test: 'settle call, a client the first of many results wins',
  },
  {
    defence: 'Settled calls are remembered after their step',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [[' || wasTakenIn(session, id)', '']],
    test: 'settle call, an approval late duplicates get already_completed, also in later steps and turns',
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
    test: 'settle call, a tool a repeated result gets the first reply and is written once',
  },
  {
    defence: 'Only the attempt that gave the result gets that reply',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["if (owner === false || num(owner) !== writer.token) return only('already_completed');", ''],
    ],
    test: 'settle call, a tool a repeated result gets the first reply and is written once',
  },
  {
    defence: 'Kind of the pending record: a client’s call is not approved',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["  if (source === 'approval' && kind !== 'approval') return only('kind_mismatch');\n", ''],
    ],
    test: 'settle call, an approval kind and run of the pending record are checked',
  },
  {
    defence: 'Kind of the pending record: results of server tools are refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      ["  if (kind !== 'approval' && kind !== 'client') return only('kind_mismatch');\n", ''],
    ],
    test: 'settle call, a client a client cannot give the result of a server tool or of another run',
  },
  {
    defence: 'Kind of the pending record: a client does not give an approval’s result',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["if (source === 'client' && kind === 'approval' && !isError)", 'if (false)']],
    test: 'settle call, a client a client cannot give the result of an approval, but can cancel it with an error',
  },
  {
    defence: 'Run of the pending record',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [['root.run !== runId || ', '']],
    test: 'settle call, an approval kind and run of the pending record are checked',
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
    test: "settle call, a deadline the store's clock decides, whatever the caller's clock shows",
  },
  {
    defence: 'Fence: a writer that was taken over is refused',
    file: `${TRANSITIONS}/take-over.ts`,
    edits: [['num(owner) + 1', 'num(owner)']],
    test: 'take over the writer is fenced off, its entries stay, and another one commits in its place',
  },
  {
    defence: 'Usage of discarded attempts counts',
    file: `${TRANSITIONS}/discard.ts`,
    edits: [['  addUsage(session, usage);\n', '']],
    test: 'usage usage of steps and discarded attempts is added up, once each',
  },
  {
    defence: 'A result is written by the transition that ends the run',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [["if (result !== '') {", 'if (false) {']],
    test: 'output the output is written by the transition that ends the run, after the results of its siblings',
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
  ...hooks,
  ...upgrade,
  ...agents,
].map((mutation) => ({
  suite: SUITE,
  ...mutation,
}));

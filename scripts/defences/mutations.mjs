// All defences, each with an edit that takes it out and the test that must then fail.
// `edits` are pairs of a text that stands in the file exactly once, and what comes in its place.
import { bridge } from './bridge-mutations.mjs';
import { checkOrder } from './check-order-mutations.mjs';
import { clients } from './client-mutations.mjs';
import { deadlines } from './deadline-mutations.mjs';
import { edge } from './edge-mutations.mjs';
import { inbox } from './inbox-mutations.mjs';
import { queue } from './queue-mutations.mjs';
import { readers } from './reader-mutations.mjs';
import { resumes } from './resume-mutations.mjs';
import { rewinds } from './rewind-mutations.mjs';
import { runs } from './run-mutations.mjs';
import { subAgents } from './sub-agent-mutations.mjs';
import { workers } from './worker-mutations.mjs';

const SUITE = 'test/stores/conformance/redis.test.ts';
const LUA = 'stores/redis/lua';

const transitions = [
  {
    defence: 'Beginning: the state that was given is stored with it',
    file: `${LUA}/begin.lua`,
    edits: [["if state ~= '' then put_state(r, state) end\n", '']],
    test: 'begin replaces the state together with the beginning, and only then',
  },
  {
    defence: 'Fence: append of a lower token is refused',
    file: `${LUA}/append.lua`,
    edits: [['if w[1] ~= ARGV[3] then return { 2 } end\n', '']],
    test: 'claim of a lower token is refused, and so is that writer at its next write',
  },
  {
    defence: 'Fence: claim of a lower token is refused',
    file: `${LUA}/claim.lua`,
    edits: [["if owner > token then return { 'FENCED' } end\n", '']],
    test: 'claim of a lower token is refused, and so is that writer at its next write',
  },
  {
    defence: 'Fence: commit of a lower token is refused',
    file: `${LUA}/commit.lua`,
    edits: [
      [
        "if redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] then return { 'FENCED' } end\n",
        '',
      ],
    ],
    test: 'commit of a zombie is refused',
  },
  {
    defence: 'Fence: result of an attempt that was not permitted is refused',
    file: `${LUA}/settle-call.lua`,
    edits: [["redis.call('HGET', K.writers, 't:' .. writer) ~= ARGV[4] or ", '']],
    test: 'settle call, a tool takes a result from the attempt that was permitted, and from no other',
  },
  {
    defence: 'Batch numbers: a batch seen before is not stored again',
    file: `${LUA}/append.lua`,
    edits: [['tonumber(w[2]) >= batch then', 'false then']],
    test: 'append gives a batch that was seen before its first reply and writes nothing',
  },
  {
    defence: 'Batch numbers: none may be missing',
    file: `${LUA}/append.lua`,
    edits: [['if tonumber(w[2]) ~= batch - 1 then return { 5 } end\n', '']],
    test: 'append writes nothing over a gap: to a writer that was told more it says rewound',
  },
  {
    defence: 'Writer tag: only the writer’s own entries are withdrawn',
    file: `${LUA}/lib/attempts.lua`,
    edits: [['if entry[2][2] == writer then', 'if true then']],
    test: 'claim of a higher token leaves what another writer said in between',
  },
  {
    defence: 'Writer tag: entries before the claim stay',
    file: `${LUA}/lib/attempts.lua`,
    edits: [["'(' .. after .. '-0', '+')) do", "'-', '+')) do"]],
    test: 'claim of a higher token leaves what the same step of an earlier turn said',
  },
  {
    defence: 'Explicit ids: Redis does not choose them',
    file: `${LUA}/lib/log.lua`,
    edits: [["id .. '-0', 'w'", "'*', 'w'"]],
    test: 'append numbers entries from 1 without gaps and tells the number of the last one',
  },
  {
    defence: 'Explicit ids: numbers are not counted anew',
    file: `${LUA}/append.lua`,
    edits: [["local seq = tonumber(r[4] or '0')", "local seq = redis.call('XLEN', stream)"]],
    test: 'the log under stream writers numbers entries explicitly: a withdrawn number is never given again',
  },
  {
    defence: 'Known sequence: append is refused over a gap',
    file: `${LUA}/append.lua`,
    edits: [['if seq < tonumber(ARGV[6]) then return { 5 } end\n', '']],
    test: 'append writes nothing over a gap: to a writer that was told more it says rewound',
  },
  {
    defence: 'Known sequence: claim on an older store is refused',
    file: `${LUA}/claim.lua`,
    edits: [["tonumber(r.seq or '0') < tonumber(ARGV[8]) or ", '']],
    test: 'order of checks claim: a store that lags behind before a run it does not know',
  },
  {
    defence: 'Known run: a run that the store never heard of is no superseded one',
    file: `${LUA}/claim.lua`,
    edits: [[" or tonumber(r.runN or '0') < runN", '']],
    test: 'order of checks claim: a store that lags behind before a run it does not know',
  },
  {
    defence: 'Known sequence: commit on an older store is refused',
    file: `${LUA}/commit.lua`,
    edits: [["if tonumber(r.seq or '0') < tonumber(ARGV[15]) then return { 'REWOUND' } end\n", '']],
    test: 'commit writes nothing for a writer that was told more than the store has',
  },
  {
    defence: 'One run per session',
    file: `${LUA}/begin.lua`,
    edits: [["then return { 'BUSY' } end", "then return { 'ACCEPTED' } end"]],
    test: 'begin lets exactly one of many posts at the same moment make a run',
  },
  {
    defence: 'A message is accepted once',
    file: `${LUA}/begin.lua`,
    edits: [['if not known then', 'if true then']],
    test: 'begin accepts a message once, also while its run goes on and after it has ended',
  },
  {
    defence: 'Birth mark: an erased session is not taken for the next one of its id',
    file: `${LUA}/begin.lua`,
    edits: [["'born', nonce", "'born', 'always'"]],
    test: 'claim tells a session from an erased one of the same id',
  },
  {
    defence: 'A started call is not executed again',
    file: `${LUA}/start-call.lua`,
    edits: [["if call_field(id, 'again') ~= '1' then", 'if false then']],
    test: 'start call never permits a started call again: its outcome is unknown, said once',
  },
  {
    defence: 'An unknown outcome takes back what was told of the state',
    file: `${LUA}/lib/calls.lua`,
    edits: [["  if code == 'tool_outcome_unknown' then undo_patches(log, who, id) end\n", '']],
    test: 'start call of an unknown outcome takes back what was told of the state, and silences the attempt',
  },
  {
    defence: 'An attempt whose call was settled as unknown is silenced',
    file: `${LUA}/start-call.lua`,
    edits: [['    release_writer(writer)\n', '']],
    test: 'start call of an unknown outcome takes back what was told of the state, and silences the attempt',
  },
  {
    defence: 'A repeated call tells viewers what is gone',
    file: `${LUA}/start-call.lua`,
    edits: [['if withdraw(writer) > 0 then', 'if withdraw(writer) > 99 then']],
    test: 'start call again withdraws what the first one wrote, and nothing of its siblings',
  },
  {
    defence: 'Of two calls that end a run the first says with what',
    file: `${LUA}/settle-call.lua`,
    edits: [["redis.call('HSETNX', K.root, 'output'", "redis.call('HSET', K.root, 'output'"]],
    test: 'changes that calls settle with come with what the run came to, which the first one says',
  },
  {
    defence: 'An approved call is not executed before its batch is answered',
    file: `${LUA}/start-call.lua`,
    edits: [["redis.call('SISMEMBER', K.busy, id) == 0", 'false']],
    test: 'start call refuses an approved call until the last answer of its batch',
  },
  {
    defence: 'The first answer wins',
    file: `${LUA}/settle-call.lua`,
    edits: [
      [
        "  if state ~= 'waiting' then return { 'ALREADY' } end\n  if store_now() >=",
        '  if store_now() >=',
      ],
    ],
    test: 'settle call, an approval lets the first of many decisions win',
  },
  {
    defence: 'The first result of a client wins',
    file: `${LUA}/settle-call.lua`,
    edits: [
      ["if not late and (state == 'settled' or", 'if not late and ('],
      ["  if state ~= 'waiting' and not late then return { 'ALREADY' } end\n", ''],
    ],
    test: 'settle call, a client lets the first of many results win',
  },
  {
    defence: 'The first answer wins: a client does not call off what was approved',
    file: `${LUA}/settle-call.lua`,
    edits: [["  if state ~= 'waiting' and not late then return { 'ALREADY' } end\n", '']],
    test: 'settle call, a client may not call off what was decided',
  },
  {
    defence: 'Settled calls are remembered after their step',
    file: `${LUA}/settle-call.lua`,
    edits: [[" or redis.call('SISMEMBER', K.settled, id) == 1)", ')']],
    test: 'settle call, an approval says already completed to late duplicates, in later steps and turns too',
  },
  {
    defence: 'Kind of the pending record: a client’s call is not approved',
    file: `${LUA}/settle-call.lua`,
    edits: [["  if kind ~= 'approval' then return { 'KIND' } end\n", '']],
    test: 'settle call, an approval checks kind and run of the pending record',
  },
  {
    defence: 'Kind of the pending record: nobody gives a server tool’s result',
    file: `${LUA}/settle-call.lua`,
    edits: [["elseif kind ~= 'approval' and kind ~= 'client' then", 'elseif false then']],
    test: 'settle call, a client may not give the result of a server tool, nor of another run',
  },
  {
    defence: 'Kind of the pending record: a client does not give an approval’s result',
    file: `${LUA}/settle-call.lua`,
    edits: [["  if kind == 'approval' and ARGV[13] ~= '1' then return { 'KIND' } end\n", '']],
    test: 'settle call, a client may not give the result of an approval, but may call it off with an error',
  },
  {
    defence: 'Run of the pending record',
    file: `${LUA}/settle-call.lua`,
    edits: [['if r.run ~= run or TERMINAL', 'if TERMINAL']],
    test: 'settle call, an approval checks kind and run of the pending record',
  },
  {
    defence: 'Deadlines by the store’s clock: expiry',
    file: `${LUA}/settle-call.lua`,
    edits: [['deadline - store_now()', 'deadline - tonumber(ARGV[7])']],
    test: "settle call, a deadline passes by the store's clock, whatever the caller's says",
  },
  {
    defence: 'Deadlines by the store’s clock: late approvals',
    file: `${LUA}/settle-call.lua`,
    edits: [['if store_now() >= deadline', 'if tonumber(ARGV[7]) >= deadline']],
    test: 'settle call, a deadline refuses a late approval, but not the kind mismatch or the second answer',
  },
  {
    defence: 'Fence: a writer that was taken over is refused',
    file: `${LUA}/take-over.lua`,
    edits: [['tonumber(w[1]) + 1)', 'tonumber(w[1]))']],
    test: 'take over fences a writer off, keeps what it wrote, and lets another commit in its place',
  },
  {
    defence: 'Usage of discarded attempts counts',
    file: `${LUA}/discard.lua`,
    edits: [['add_usage(ARGV[10])\n', '']],
    test: 'usage of steps and of discarded attempts is added up, once each',
  },
  {
    defence: 'A result is written by the transition that ends the run',
    file: `${LUA}/lib/runs.lua`,
    edits: [['  if r.output then\n', '  if false then\n']],
    test: 'output is written by the transition that ends the run, after the results of its siblings',
  },
];

export const mutations = [
  ...transitions,
  ...checkOrder,
  ...deadlines,
  ...queue,
  ...inbox,
  ...rewinds,
  ...resumes,
  ...subAgents,
  ...readers,
  ...runs,
  ...workers,
  ...bridge,
  ...edge,
  ...clients,
].map((mutation) => ({
  suite: SUITE,
  ...mutation,
}));

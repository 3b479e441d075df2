// Runs that go on after others, and who takes over from whom; see mutations.mjs.
const LUA = 'stores/redis/lua';

const refused = 'resume run refuses a run that has ended for good, and one that is not the newest';
const notAsked = 'extend deadline refuses what does not wait for an answer with a deadline';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const resumes = [
  {
    defence: 'Resume: done once for one nonce',
    file: `${LUA}/resume-run.lua`,
    edits: [["if r.run == sessionId .. ':' .. r.runN .. '-' .. ARGV[3] then", 'if false then']],
    test: 'resume run is done once, also if it is asked for again',
  },
  {
    defence: 'Resume: not while a run is at work or waits',
    file: `${LUA}/resume-run.lua`,
    edits: without("if not TERMINAL[r.status] then return { 'ACTIVE', r.run } end\n"),
    test: 'resume run leaves a run that is at work or waits alone',
  },
  {
    defence: 'Resume: the newest run only',
    file: `${LUA}/resume-run.lua`,
    edits: without("if ARGV[2] ~= '' and ARGV[2] ~= r.run then return { 'STALE', r.run } end\n"),
    test: refused,
  },
  {
    defence: 'Resume: nothing that ended for good',
    file: `${LUA}/resume-run.lua`,
    edits: without(
      "if r.status ~= 'interrupted' and not may_pass then return { 'FINAL', r.status } end\n",
    ),
    test: refused,
  },
  {
    defence: 'Resume: behind a reply that was folded from the log',
    file: `${LUA}/resume-run.lua`,
    edits: without('    step = math.max(step, row.step)\n'),
    test: 'resume run goes on behind a reply that was folded from the log',
  },
  {
    defence: 'Resume: what nothing came of is not shown twice',
    file: `${LUA}/resume-run.lua`,
    edits: [['if claimed > step then remove', 'if false then remove']],
    test: 'resume run takes back what nothing came of, and says the step anew',
  },
  {
    defence: 'A run that was followed by another has no voice',
    file: `${LUA}/append.lua`,
    edits: without("if run ~= '*' and (r[1] ~= run or TERMINAL[r[2]]) then return { 3 } end\n"),
    test: 'resume run fences off the writers of the run before',
  },
  {
    defence: 'Take-over: of the newest run at work only',
    file: `${LUA}/take-over.lua`,
    edits: without("if r.run ~= ARGV[1] or TERMINAL[r.status] then return { 'SUPERSEDED' } end\n"),
    test: 'take over finds nothing where nobody writes, and leaves other runs alone',
  },
  {
    defence: 'Take-over: nobody is fenced off where nobody writes',
    file: `${LUA}/take-over.lua`,
    edits: [["if not w[1] then return { 'NOTHING' } end", "w[1] = w[1] or '0'"]],
    test: 'take over finds nothing where nobody writes, and leaves other runs alone',
  },
  {
    defence: 'Extension: not of an answered call',
    file: `${LUA}/extend-deadline.lua`,
    edits: [
      ...without(
        "if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'ALREADY' } end\n",
      ),
      ...without("if state ~= 'waiting' then return { 'ALREADY' } end\n"),
    ],
    test: notAsked,
  },
  {
    defence: 'Extension: not of a call that timed out',
    file: `${LUA}/extend-deadline.lua`,
    edits: without(
      "if call_field(id, 'late') == '1' or call_field(id, 'lapsed') then return { 'EXPIRED' } end\n",
    ),
    test: notAsked,
  },
  {
    defence: 'Extension: of calls that people answer only',
    file: `${LUA}/extend-deadline.lua`,
    edits: without(
      "if kind ~= 'approval' and kind ~= 'client' then return { 'NOT_PENDING' } end\n",
    ),
    test: notAsked,
  },
  {
    defence: 'Extension: of the newest run only',
    file: `${LUA}/extend-deadline.lua`,
    edits: without("if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end\n"),
    test: notAsked,
  },
  {
    defence: 'Queue: what is kept for it goes when it is emptied',
    file: `${LUA}/remove-queued.lua`,
    edits: without(
      "if TERMINAL[r.status] and redis.call('LLEN', K.queue) == 0 then arm_expiry(true) end\n",
    ),
    suite: 'test/stores/redis/expiry.test.ts',
    test: 'the keys of a session are kept for what waits, and expire when that is removed',
  },
  {
    defence: 'Sub-agents: made once',
    file: `${LUA}/begin-child.lua`,
    edits: without("if own.run == run then return { own.limit and 'LIMIT' or 'BEGUN' } end\n"),
    test: 'a sub-agent is made of the call that it carries out, once',
  },
  {
    defence: 'Branch: made once for one nonce',
    file: `${LUA}/branch.lua`,
    edits: without(
      "if r.agent and r.born == nonce and r.mode == 'branch' then return { 'BRANCHED' } end\n",
    ),
    test: 'branch is done once, and leaves a session that is there alone',
  },
  {
    defence: 'Branch: ids of copied calls stay used',
    file: `${LUA}/branch.lua`,
    edits: without("  redis.call('SADD', K.settled, ARGV[at])\n"),
    test: 'branch goes on like any other',
  },
  {
    defence: 'Branch: a copied message is accepted once',
    file: `${LUA}/branch.lua`,
    edits: without("  redis.call('HSET', K.messages, ARGV[at], ARGV[at + 1])\n"),
    test: 'branch goes on like any other',
  },
  {
    defence: 'Rewind: entries of what is dropped go',
    file: `${LUA}/rewind.lua`,
    edits: without('remove_after(sequence)\n'),
    test: 'rewind does the newest turn again from its beginning',
  },
  {
    defence: 'Rewind: checkpoints of what is dropped go',
    file: `${LUA}/rewind.lua`,
    edits: without("redis.call('LTRIM', K.checkpoints, 0, kept - 1)\n"),
    test: 'rewind goes back to a checkpoint with the state of that moment',
  },
  {
    defence: 'Rewind: messages are counted as they stand then',
    file: `${LUA}/rewind.lua`,
    edits: without('    if not row.hidden then shown = shown - 1 end\n'),
    test: 'rewind does an older turn again, whose later ones it drops',
  },
];

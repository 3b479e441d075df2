// Defences of what is read, kept and staged; see mutations.mjs.
const LUA = 'stores/redis/lua';
const STORAGE = 'test/stores/conformance/redis-storage.test.ts';

export const readers = [
  {
    defence: 'Pause as an entry: of a run',
    file: `${LUA}/lib/tree.lua`,
    edits: [
      ["log.write('', own_chunk(who, 'run_paused', {", "own_chunk(who, 'run_paused', {"],
      ['deadline = note_deadline(),\n  }))', 'deadline = note_deadline(),\n  })'],
    ],
    test: "stream readers of a session end at its run's pause and end",
  },
  {
    defence: 'Pause as an entry: of a stream without a run',
    file: `${LUA}/mark.lua`,
    edits: [['log.control(ARGV[2])\n', '']],
    test: 'stream readers end at a pause that is over before they look: it stands in the log',
  },
  {
    defence: 'Pauses up to a reader’s start have been overtaken',
    file: 'stores/log/stream-reader.ts',
    edits: [['    if (sequence <= this.#input.position.sequence) return false;\n', '']],
    test: 'stream readers end at a pause, and begin anew beyond it',
  },
  {
    defence: 'Truncation as an entry: readers elsewhere are told',
    file: `${LUA}/truncate.lua`,
    edits: [
      ['  log.control(cjson.encode({', '  cjson.encode({'],
      ['lastRemoved = last,\n  }))', 'lastRemoved = last,\n  })'],
    ],
    test: 'cleanupToStep tells attached readers once, and those that come later nothing',
  },
  {
    defence: 'Tail: what is published carries the sequence before it',
    suite: STORAGE,
    file: `${LUA}/lib/log.lua`,
    edits: [["'[' .. string.format('%d', log.prev)", "'[' .. string.format('%d', log.seq)"]],
    test: 'the log in Redis publishes all that a transition wrote at once, with the sequence before it',
  },
  {
    defence: 'Tail: one publish per transition',
    suite: STORAGE,
    file: `${LUA}/lib/log.lua`,
    edits: [
      [
        '  function log.control(json)',
        "  local write = log.write\n  function log.write(writer, json)\n    write(writer, json)\n    redis.call('SPUBLISH', channel, '[' .. string.format('%d', log.seq - 1) .. ',[' .. log.out[#log.out] .. ']]')\n  end\n  function log.control(json)",
      ],
    ],
    test: 'the log in Redis publishes all that a transition wrote at once, with the sequence before it',
  },
  {
    defence: 'Tail: a gap before what was published is read from the log',
    suite: 'test/stores/redis/tail.test.ts',
    file: 'stores/redis/place.ts',
    edits: [['previous > known,', 'previous > Infinity,']],
    test: 'follow repairs a publish that was lost, when the next one comes',
  },
  {
    defence: 'Expiry is armed by the end only',
    suite: 'test/stores/redis/expiry.test.ts',
    file: `${LUA}/lib/runs.lua`,
    edits: [['  keep_for_ever()\n', '  arm_expiry(true)\n']],
    test: 'the keys of a session have no expiry while it starts, runs or waits; of an ended one only the stream has',
  },
  {
    defence: 'The cap never trims the current turn',
    suite: STORAGE,
    file: `${LUA}/lib/log.lua`,
    edits: [["redis.call('XADD', stream, id", "redis.call('XADD', stream, 'MAXLEN', 10, id"]],
    test: 'the log in Redis is trimmed by whole old turns when it is over its cap, never in the current one',
  },
  {
    defence: 'The sequence survives the stream',
    suite: STORAGE,
    file: `${LUA}/lib/runs.lua`,
    edits: [["'seq', at, 'pauseSeq'", "'seq', redis.call('XLEN', K.stream), 'pauseSeq'"]],
    test: 'the log in Redis counts on when the stream of the turn before has expired',
  },
  {
    defence: 'State: saved over the loaded version only',
    file: `${LUA}/save-state.lua`,
    edits: [["if version ~= tonumber(ARGV[1]) then return { 'STALE' } end\n", '']],
    test: 'load and save save a state over the version that was loaded, and over no other',
  },
  {
    defence: 'State: a version that a checkpoint names stays',
    file: `${LUA}/lib/session.lua`,
    edits: [["if version ~= tonumber(r.checkpointV or '0') then redis", 'if true then redis']],
    test: 'checkpoints are found by id, with the state of that moment',
  },
  {
    defence: 'Staging: a change that was replaced meanwhile is not dropped',
    file: `${LUA}/save-state.lua`,
    edits: [[" or staged:match('^%d+') ~= ARGV[i + 1]", '']],
    test: 'staged changes under concurrency that are replaced while they are promoted are not lost',
  },
  {
    defence: 'Staging: all or none',
    file: 'stores/record/apply-changes.ts',
    edits: [['if (failure !== undefined || ', 'if (']],
    test: 'staged changes are taken all or none',
  },
  {
    defence: 'Sizes are checked before a sequence is given',
    file: 'stores/record/checked-messages.ts',
    edits: [['Buffer.byteLength(json) > LIMITS.chunkBytes', 'Buffer.byteLength(json) > Infinity']],
    test: 'bad input chunks that are none are refused, and no sequence is given',
  },
  {
    defence: 'Schemas are checked before a sequence is given',
    file: 'stores/record/checked-messages.ts',
    edits: [
      ['if (!checked.success) {', 'if (checked.error !== undefined && messages.length > 9) {'],
    ],
    test: 'bad input one bad chunk keeps out the whole batch, and its number is free',
  },
];

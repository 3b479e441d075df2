// Each place in the order of the transitions' checks against the next; see mutations.mjs.
const LUA = 'stores/redis/lua';

/** Two neighbouring lines of a file change places. */
const swap = (first, second) => [[`${first}\n${second}`, `${second}\n${first}`]];

export const checkOrder = [
  {
    defence: 'Order in claim: done before stop',
    file: `${LUA}/claim.lua`,
    edits: [
      [
        "if r.run == run and committed >= step then return { 'DONE', r.outcome, r.status } end\n",
        '',
      ],
      [
        'local owner = tonumber',
        "if r.run == run and committed >= step then return { 'DONE', r.outcome, r.status } end\nlocal owner = tonumber",
      ],
    ],
    test: 'order of checks claim: what is done before a stop',
  },
  {
    defence: 'Order in claim: stop before fence',
    file: `${LUA}/claim.lua`,
    edits: [
      ["if r.stop then return { 'STOPPED', r.stop } end\n", ''],
      [
        'if committed ~= step - 1',
        "if r.stop then return { 'STOPPED', r.stop } end\nif committed ~= step - 1",
      ],
    ],
    test: 'order of checks claim: a stop before the fence',
  },
  {
    defence: 'Order in claim: missing step before waiting calls',
    file: `${LUA}/claim.lua`,
    edits: swap(
      "if committed ~= step - 1 then return { 'REWOUND' } end",
      "if has_unsettled() or (K.root ~= T.root and r.stream == 'paused') then return { 'NOT_READY' } end",
    ),
    test: 'order of checks claim: a step that is missing before calls that wait',
  },
  {
    defence: 'Order in commit: done before stop',
    file: `${LUA}/commit.lua`,
    edits: [
      [
        "if r.run == run and tonumber(r.committed) >= step then return { 'DONE', r.outcome, r.status } end\n",
        '',
      ],
      [
        'if TERMINAL[r.status] then',
        "if r.run == run and tonumber(r.committed) >= step then return { 'DONE', r.outcome, r.status } end\nif TERMINAL[r.status] then",
      ],
    ],
    test: 'order of checks commit: what is done before a stop, a fence and a store that lags behind',
  },
  {
    defence: 'Order in commit: stop before fence',
    file: `${LUA}/commit.lua`,
    edits: [
      [
        "if r.stop and ARGV[11] ~= '1' and not TERMINAL[r.status] then return { 'STOPPED', r.stop } end\n",
        '',
      ],
      [
        'if tonumber(r.committed) ~= step - 1',
        "if r.stop and ARGV[11] ~= '1' then return { 'STOPPED', r.stop } end\nif tonumber(r.committed) ~= step - 1",
      ],
    ],
    test: 'order of checks commit: a stop before the fence',
  },
  {
    defence: 'Order in append: batch seen before known sequence',
    file: `${LUA}/append.lua`,
    edits: [
      [
        'if w[1] == ARGV[3] and tonumber(w[2]) >= batch then return { 1, tonumber(w[3]), stop } end\n',
        '',
      ],
      [
        "if run ~= '*' and",
        "if w[1] == ARGV[3] and tonumber(w[2]) >= batch then return { 1, tonumber(w[3]), stop } end\nif run ~= '*' and",
      ],
    ],
    test: 'order of checks append: a batch that was seen before everything but the fence',
  },
  {
    defence: 'Order in append: fence before pause',
    file: `${LUA}/append.lua`,
    edits: [
      ["if run == '*' and r[5] == 'paused' then return { 4 } end\n", ''],
      [
        'if w[1] ~= ARGV[3] then',
        "if run == '*' and r[5] == 'paused' then return { 4 } end\nif w[1] ~= ARGV[3] then",
      ],
    ],
    test: 'the log under stream writers refuses a zombie before it looks at the pause, and a gap in the batches',
  },
  {
    defence: 'Order in start call: settled before superseded',
    file: `${LUA}/start-call.lua`,
    edits: swap(
      "if state == 'settled' or redis.call('SISMEMBER', K.settled, id) == 1 then return { 'SETTLED' } end",
      "if r.run ~= run or TERMINAL[r.status] then return { 'SUPERSEDED' } end",
    ),
    test: 'order of checks start call: a result before the end of the run, a stop before the fence',
  },
  {
    defence: 'Order in settle call: settled before run',
    file: `${LUA}/settle-call.lua`,
    edits: [
      ["if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end\n", ''],
      [
        'if not late and (',
        "if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end\nif not late and (",
      ],
    ],
    test: 'order of checks settle call: what is done before the run, the run before the kind',
  },
  {
    defence: 'Order in settle call: run before kind',
    file: `${LUA}/settle-call.lua`,
    edits: [
      ["if r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end\n", ''],
      [
        '\nlocal now = tonumber(ARGV[7])',
        "\nif r.run ~= run or TERMINAL[r.status] then return { 'STALE' } end\nlocal now = tonumber(ARGV[7])",
      ],
    ],
    test: 'order of checks settle call: what is done before the run, the run before the kind',
  },
  {
    defence: 'Order in discard: counted before fence',
    file: `${LUA}/discard.lua`,
    edits: [
      ["if failures >= tonumber(ARGV[9]) then return { 'DISCARDED', failures } end\n", ''],
      [
        'local log = ',
        "if failures >= tonumber(ARGV[9]) then return { 'DISCARDED', failures } end\nlocal log = ",
      ],
    ],
    test: 'order of checks discard: a failure that was counted before the fence and the end',
  },
  {
    defence: 'Order in end: another run before the state of this one',
    file: `${LUA}/end.lua`,
    edits: swap(
      "if r.run ~= ARGV[2] then return { 'SUPERSEDED' } end",
      "if TERMINAL[r.status] then return { 'ENDED', r.status, redis.call('LLEN', K.queue) > 0 and 1 or 0 } end",
    ),
    test: 'order of checks end: another run before this one, this one before its state',
  },
];

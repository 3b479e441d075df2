// The defences of sessions that are taken back or copied; see mutations.mjs.
const LUA = 'stores/redis/lua';

export const rewinds = [
  {
    defence: 'Rewind: not while a run is at work',
    file: `${LUA}/rewind.lua`,
    edits: [["if not TERMINAL[r.status] then return { 'BUSY', r.run } end\n", '']],
    test: 'rewind refuses what it cannot do, and changes nothing then',
  },
  {
    defence: 'Rewind: not over a run that the caller has not seen',
    file: `${LUA}/rewind.lua`,
    edits: [["if r.run ~= ARGV[2] then return { 'STALE', r.run } end\n", '']],
    test: 'rewind makes one run of many that are asked for at the same moment',
  },
  {
    defence: 'Rewind: done once for one nonce',
    file: `${LUA}/rewind.lua`,
    edits: [
      [
        "if r.run == sessionId .. ':' .. r.runN .. '-' .. nonce then return { 'REWOUND', unpack(newest_run()) } end\n",
        '',
      ],
    ],
    test: 'rewind is done once, also if it is asked for again',
  },
  {
    defence: 'Rewind: no call without its result',
    file: `${LUA}/rewind.lua`,
    edits: [
      [
        "  while rows[keep + 1] and (rows[keep + 1].role == 'tool' or rows[keep + 1].display) do keep = keep + 1 end\n",
        '',
      ],
    ],
    test: 'rewind goes back to a checkpoint with the state of that moment',
  },
  {
    defence: 'Rewind: transcripts that workers keep are no longer these',
    file: `${LUA}/rewind.lua`,
    edits: [["'born', nonce, ", '']],
    test: 'rewind goes back to a checkpoint with the state of that moment',
  },
  {
    defence: 'Rewind: the state goes back as well',
    file: `${LUA}/lib/rewinding.lua`,
    edits: [['if first and first.stateVersion ~= current then', 'if false then']],
    test: 'rewind goes back to a checkpoint with the state of that moment',
  },
  {
    defence: 'Rewind: changes of dropped calls are never taken in',
    file: `${LUA}/lib/rewinding.lua`,
    edits: [["if field ~= 'n' and not calls[", 'if false and not calls[']],
    test: 'rewind keeps changes that no step has taken in if their calls stay',
  },
  {
    defence: 'Rewind: changes of calls that stay are not lost',
    file: `${LUA}/lib/rewinding.lua`,
    edits: [
      ["if field ~= 'n' and not calls[field:match('^[^/]*/(.*)$')] then", "if field ~= 'n' then"],
    ],
    test: 'rewind keeps changes that no step has taken in if their calls stay',
  },
  {
    defence: 'Rewind: ids of dropped calls stay used',
    file: `${LUA}/claim.lua`,
    edits: [['local used = r.rewound and ', 'local used = false and ']],
    test: 'rewind goes back to a checkpoint with the state of that moment',
  },
  {
    defence: 'Rewind: dropped messages may be sent again',
    file: `${LUA}/rewind.lua`,
    edits: [["    redis.call('HDEL', K.messages, row.id)\n", '']],
    test: 'rewind does an older turn again, whose later ones it drops',
  },
  {
    defence: 'Rewind: nothing is told of dropped calls',
    file: `${LUA}/rewind.lua`,
    edits: [['    forget_lapsed(row.toolCallId)\n', '']],
    test: 'rewind tells nothing of a late answer to a call that it drops',
  },
  {
    defence: 'Rewind: a turn that was steered away from is one of its own',
    file: `${LUA}/lib/rewinding.lua`,
    edits: [['or (speaks(at) and not speaks(at - 1)) end', 'end']],
    test: 'rewind finds a turn by its user message, and one that was steered away from',
  },
  {
    defence: 'Branch: no session is written over',
    file: `${LUA}/branch.lua`,
    edits: [["if next(r) then return { 'EXISTS' } end\n", '']],
    test: 'branch is done once, and leaves a session that is there alone',
  },
];

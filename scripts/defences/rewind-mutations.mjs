// The defences of sessions that are taken back or copied; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

const NEWEST = 'rewind the newest turn is repeated from its beginning';
const CHECKPOINT = 'rewind the session returns to a checkpoint with the state of that moment';
const STAGED = 'rewind staged changes stay if their calls stay';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const rewinds = [
  {
    defence: 'Rewind: not while a run is active',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: [['if (isLive(root.status))', 'if (false)']],
    test: 'rewind an impossible rewind is refused and changes nothing',
  },
  {
    defence: 'Rewind: not over a run that the caller has not seen',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: [['if (root.run !== request.runId)', 'if (false)']],
    test: 'rewind many concurrent requests start one run',
  },
  {
    defence: 'Rewind: done once for one nonce',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: [['if (isRunOf(root.run, nonce))', 'if (false)']],
    test: 'rewind a repeated request returns the same run',
  },
  {
    defence: 'Rewind: entries of what is dropped go',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: without('  if (!removeAfter(session, target.sequence)) return MORE;\n'),
    test: NEWEST,
  },
  {
    defence: 'Rewind: checkpoints of what is dropped go',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: without(
      "  redis.call('LTRIM', session.checkpoints, '0', int(target.checkpoints - 1));\n",
    ),
    test: CHECKPOINT,
  },
  {
    defence: 'Rewind: messages are counted as they stand then',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: [["['uiCount', int(shown)]", '[]']],
    test: NEWEST,
  },
  {
    defence: 'Rewind: no call without its result',
    file: `${TRANSITIONS}/lib/rewind-target.ts`,
    edits: [
      [
        "while (head !== undefined && (head.role === 'tool' || head.display === true)) {",
        'while (false) {',
      ],
    ],
    test: CHECKPOINT,
  },
  {
    defence: 'Rewind: transcripts that workers keep are no longer these',
    file: `${TRANSITIONS}/rewind.ts`,
    edits: [["'born', nonce, ", '']],
    test: CHECKPOINT,
  },
  {
    defence: 'Rewind: the state goes back as well',
    file: `${TRANSITIONS}/lib/restored-state.ts`,
    edits: [['if (wanted !== before) {', 'if (false) {']],
    test: CHECKPOINT,
  },
  {
    defence: 'Rewind: changes of dropped calls are never taken in',
    file: `${TRANSITIONS}/lib/restored-state.ts`,
    edits: [["field !== 'n' && kept[id] !== true", 'false']],
    test: STAGED,
  },
  {
    defence: 'Rewind: changes of calls that stay are not lost',
    file: `${TRANSITIONS}/lib/restored-state.ts`,
    edits: without(' && kept[id] !== true'),
    test: STAGED,
  },
  {
    defence: 'Rewind: ids of dropped calls stay used',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [["field('hasDroppedCalls', root.rewound === undefined ? '' : 'true')", "''"]],
    test: CHECKPOINT,
  },
  {
    defence: 'Rewind: dropped messages may be sent again',
    file: `${TRANSITIONS}/lib/dropped-rows.ts`,
    edits: without("      redis.call('HDEL', session.messages, head.id ?? '');\n"),
    test: 'rewind repeating an older turn drops the later ones',
  },
  {
    defence: 'Rewind: dropped calls are not reported',
    file: `${TRANSITIONS}/lib/dropped-rows.ts`,
    edits: without("      redis.call('LREM', session.notices, '1', json);\n"),
    test: 'rewind a note about a late answer is dropped with its call',
  },
  {
    defence: 'Rewind: a turn that was steered away from is one of its own',
    file: `${TRANSITIONS}/lib/queue.ts`,
    edits: without('    log.seq,\n'),
    test: 'rewind a turn that steering began is found, also after later turns',
  },
  {
    defence: 'Branch: no session is written over',
    file: `${TRANSITIONS}/branch.ts`,
    edits: [
      ['if (root.agent !== undefined) {', 'if (false) {'],
      ["  if (root.stream !== undefined) return only('exists');\n", ''],
    ],
    test: 'branch a copy is made once and never replaces an existing session',
  },
];

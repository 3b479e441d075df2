// What release 0.2.0 has left, or does beside this one; see mutations.mjs.
const LIB = 'stores/transitions/lib';
const REST = 'test/stores/redis/upgrade-rest.test.ts';
const LIVE = 'test/stores/redis/upgrade-live.test.ts';
const turns = 'a session in which processes of both releases took turns';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const upgrade = [
  {
    defence: 'Upgrade: places are noted again behind turns of release 0.2.0',
    file: `${LIB}/carry-over.ts`,
    edits: without("  setFields(session, ['placed', '0 0']);\n"),
    suite: REST,
    test: `${turns} a session of both releases is rewound to turn 4 of six`,
  },
  {
    defence: 'Upgrade: a message that release 0.2.0 has moved counts as accepted',
    file: `${LIB}/accepted.ts`,
    edits: [[' && arePlacesNoted(session)', '']],
    suite: 'test/stores/redis/upgrade.test.ts',
    test: 'sessions of release 0.2.0 mixed-edit: what it has accepted it takes in no more',
  },
  {
    defence: 'Upgrade: an attempt that release 0.2.0 took over is withdrawn',
    file: `${LIB}/attempts.ts`,
    edits: without(' && isNoted(session, writer)'),
    suite: LIVE,
    test: 'a step of release 0.2.0 in the middle a step that processes of both releases wrote is withdrawn as a whole',
  },
  {
    defence: 'Upgrade: chunks of an attempt of release 0.2.0 are found in the log',
    file: `${LIB}/call-events.ts`,
    edits: without(' || !isNoted(session, writer)'),
    suite: LIVE,
    test: 'calls that release 0.2.0 has opened a call keeps the chunks of its newest attempt, whichever release ran the earlier ones',
  },
  {
    defence: 'Upgrade: a repeated step began in its own run',
    file: 'stores/transitions/resume-run.ts',
    edits: [
      [
        'Math.max(num(root.openSeq), num(root.runSeq))',
        'root.openSeq === undefined ? num(root.runSeq) : num(root.openSeq)',
      ],
    ],
    suite: REST,
    test: `${turns} a session of both releases continues the newest turn, and keeps those before it`,
  },
  {
    defence: 'Upgrade: what release 0.2.0 leaves of an erased session is no past of the next one',
    file: 'stores/transitions/begin.ts',
    edits: without("  if (isNew) redis.call('UNLINK', session.places, session.rewinds);\n"),
    suite: REST,
    test: `${turns} a session that release 0.2.0 erases leaves nothing to another one of its id`,
  },
  {
    defence: 'Upgrade: release 0.2.0 sees which runs were taken back',
    file: `${LIB}/rewinds.ts`,
    edits: without("    redis.call('HSET', runs, id, withField(json, 'rewound', 'true'));\n"),
    suite: REST,
    test: 'a session that release 0.2.0 left at rest a session of release 0.2.0 is rewound to any turn, with the state of that moment',
  },
  {
    defence: 'Upgrade: nothing is written that release 0.2.0 misreads, unless that is allowed',
    file: 'stores/redis/create-context.ts',
    edits: [['options.recordLayout ?? FIRST_LAYOUT', 'RECORD_LAYOUT']],
    suite: REST,
    test: 'a session that release 0.2.0 left at rest a session of release 0.2.0 stays in layout 1 while that release may read it',
  },
  {
    defence: 'Upgrade: deltas are short only where every process reads that',
    file: 'stores/redis/stream-log.ts',
    edits: [['layout < SHORT_DELTAS ? undefined', 'layout < 1 ? undefined']],
    suite: 'test/stores/redis/short-deltas.test.ts',
    test: 'a delta in Redis is stored as a living process of layout 1 reads it',
  },
];

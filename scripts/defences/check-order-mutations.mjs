// Each place in the order of the transitions' checks against the next; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

/** A check is made later: before another line. */
const moved = (check, before) => [
  [`  ${check}\n`, ''],
  [`  ${before}`, `  ${check}\n  ${before}`],
];

const CLAIM_DONE = 'if (root.run === runId && committed >= step) return doneOrSuperseded(session);';
const STALE_RUN = "if (root.run !== runId || isTerminal(root.status)) return only('stale_run');";

export const checkOrder = [
  {
    defence: 'Order in claim: done before a store that lags behind',
    file: `${TRANSITIONS}/claim.ts`,
    edits: moved(CLAIM_DONE, 'if (root.run !== runId) {'),
    test: 'order of checks a claim checks a committed step before a store that is behind',
  },
  {
    defence: 'Order in claim: done before stop',
    file: `${TRANSITIONS}/claim.ts`,
    edits: moved(CLAIM_DONE, 'const { owner, failing'),
    test: 'order of checks a claim checks a committed step before a stop',
  },
  {
    defence: 'Order in claim: stop before fence',
    file: `${TRANSITIONS}/claim.ts`,
    edits: moved(
      'if (root.stop !== undefined) return `{"kind":"stopped","stop":${root.stop}}`;',
      'if (committed !== step - 1)',
    ),
    test: 'order of checks a claim checks a stop before the fence',
  },
  {
    defence: 'Order in claim: missing step before waiting calls',
    file: `${TRANSITIONS}/claim.ts`,
    edits: moved("if (committed !== step - 1) return only('rewound');", 'const log = openLog'),
    test: 'order of checks a claim checks a missing step before waiting calls',
  },
  {
    defence: 'Order in commit: done before stop',
    file: `${TRANSITIONS}/commit.ts`,
    edits: moved(CLAIM_DONE, "if (hasEnded) return only('superseded');"),
    test: 'order of checks a commit checks a committed step before a stop, a fence and a store that is behind',
  },
  {
    defence: 'Order in commit: stop before fence',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [
      ['if (root.stop !== undefined && !request.answersStop && !hasEnded) {', 'if (false) {'],
      [
        '  const reason = ',
        '  if (root.stop !== undefined && !request.answersStop) {\n    return `{"kind":"stopped","stop":${root.stop}}`;\n  }\n  const reason = ',
      ],
    ],
    test: 'order of checks a commit checks a stop before the fence',
  },
  {
    defence: 'Order in append: batch seen before known sequence',
    file: `${TRANSITIONS}/append.ts`,
    edits: [['&& last >= next', '&& last >= next && num(session[3] as string) >= toNumber(known)']],
    test: 'order of checks append: a stored batch comes before everything but the fence',
  },
  {
    defence: 'Order in append: fence before pause',
    file: `${TRANSITIONS}/append.ts`,
    edits: moved(
      'if (owner[0] !== token) return [FENCED];',
      'const bytesBefore = session[5] === false ? 0 : toNumber(session[5] as string);',
    ),
    test: 'the log under stream writers a fenced writer is refused before the pause is checked, and a gap in the batches is refused',
  },
  {
    defence: 'Order in start call: settled before superseded',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: moved(
      "if (state === 'settled' || wasTakenIn(session, toolCallId)) return only('settled');",
      "if (root.stop !== undefined) return only('stopped');",
    ),
    test: 'order of checks the start of a call checks a result before the end of the run, and a stop before the fence',
  },
  {
    defence: 'Order in settle call: settled before run',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      [`  ${STALE_RUN}\n`, ''],
      ['  if (!isLate && (call.state', `  ${STALE_RUN}\n  if (!isLate && (call.state`],
    ],
    test: 'order of checks settling checks a settled call before the run, and the run before the kind',
  },
  {
    defence: 'Order in settle call: run before kind',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: moved(STALE_RUN, 'const log = openLog(session, seq);'),
    test: 'order of checks settling checks a settled call before the run, and the run before the kind',
  },
  {
    defence: 'Order in discard: counted before fence',
    file: `${TRANSITIONS}/discard.ts`,
    edits: moved(
      'if (failures >= failure) return `{"kind":"discarded","failures":${int(failures)}}`;',
      'const withdrawal = ',
    ),
    test: 'order of checks discard: a counted failure comes before the fence and the end',
  },
  {
    defence: 'Order in end: another run before the state of this one',
    file: `${TRANSITIONS}/end.ts`,
    edits: moved("if (root.run !== runId) return only('superseded');", 'let { status } = request;'),
    test: 'order of checks an end checks another run before this one, and this one before its state',
  },
];

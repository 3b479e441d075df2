// Deadlines, their extension, and answers after them; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

const NO_ROOM =
  'settle call, a deadline after an expiry no decision is accepted, whatever its outcome was';
const TOLD_ONCE = 'a late answer the model gets it once, after the results of the current step';
const MORE_TIME = 'extend deadline the time can be extended repeatedly, up to a limit';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const deadlines = [
  {
    defence: 'Deadline: a later decision is refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [
      [
        "return left !== undefined && left <= 0 ? only('expired') : undefined;",
        'return undefined;',
      ],
    ],
    test: 'settle call, a deadline a late approval is refused, but a kind mismatch or a second answer comes first',
  },
  {
    defence: 'Deadline: an approval that timed out takes no decision',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["if (isPersons && call.late === '1' && call.kind === 'approval')", 'if (false)']],
    test: NO_ROOM,
  },
  {
    defence: 'Deadline: nor does one of an earlier step',
    file: `${TRANSITIONS}/lib/late-answers.ts`,
    edits: without("if (isPersons && lapsed.startsWith('approval ')) return 'expired';\n"),
    test: NO_ROOM,
  },
  {
    defence: 'Deadline: a late answer is passed to the model once',
    file: `${TRANSITIONS}/lib/late-answers.ts`,
    edits: without("  redis.call('HSET', session.calls, `lapsed:${id}`, 'told');\n"),
    test: TOLD_ONCE,
  },
  {
    defence: 'Deadline: a late answer is taken in by the next step',
    file: `${TRANSITIONS}/claim.ts`,
    edits: without('    addNotices(session);\n'),
    test: TOLD_ONCE,
  },
  {
    defence: 'Deadline: or by the next turn',
    file: `${TRANSITIONS}/lib/start-run.ts`,
    edits: without('  if (turn > 1) addNotices(session);\n'),
    test: 'a late answer the model gets it before the next message if the run has ended',
  },
  {
    defence: 'Deadline: the clock of a call runs from its first pause on',
    file: `${TRANSITIONS}/lib/pause.ts`,
    edits: [['if (call.deadline === undefined) {', 'if (call.wait !== undefined) {']],
    test: 'a sub-agent a sub-agent keeps its deadlines and questions through a later pause',
  },
  {
    defence: 'Deadline: a deadline that has passed is not extended',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without("  if (now >= num(call.deadline)) return only('expired');\n"),
    test: 'extend deadline a call that does not wait with a deadline is refused',
  },
  {
    defence: 'Deadline: it is not extended without end',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without("  if (deadline > now + request.mostAheadMs) return only('too_far');\n"),
    test: MORE_TIME,
  },
  {
    defence: 'Deadline: an extension is seen in the record',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without('  noteDeadline(session);\n'),
    test: MORE_TIME,
  },
  {
    defence: 'Deadline: an extension that is sent again adds nothing',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: [
      [
        'Math.max(num(call.deadline), request.deadline + request.byMs)',
        'num(call.deadline) + request.byMs',
      ],
    ],
    test: 'extend deadline a repeated request adds no time',
  },
];

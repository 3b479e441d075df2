// Defences of the transitions of calls: executed once, answered once, by who may.
const TRANSITIONS = 'stores/transitions';

export const calls = [
  {
    defence: 'Fence: result of an attempt that was not permitted is refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["isOwner && state === 'started'", "state === 'started'"]],
    test: 'settle call, a tool only the attempt with permission can store a result',
  },
  {
    defence: 'A started call is not executed again',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [['if (!mayRepeat || (isTaken', 'if ((isTaken']],
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
        '{ source, writer, isError, permitted }: SettleCallRequest',
        '{ source, writer, isError, permitted, now }: SettleCallRequest',
      ],
      ['num(deadline) - storeNow()', 'num(deadline) - now'],
    ],
    test: "settle call, a deadline the store's clock decides, whatever the caller's clock shows",
  },
];

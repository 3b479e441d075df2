// The defences of schedules; see mutations.mjs.
const SCHEDULES = 'test/executor/schedules.test.ts';
const ROUTES = 'test/api/operator-schedules.test.ts';
const WORKFLOW = 'workflows/firing.ts';
const EXECUTOR = 'executor/schedules.ts';
const LATER = 'test/executor/start-later.test.ts';

export const schedules = [
  {
    defence: 'Schedules: no reason stands in clear text where payloads are encrypted',
    file: 'executor/schedules.ts',
    edits: [['given === undefined || hasCodec(client)', 'given === undefined']],
    suite: 'test/executor/schedules.test.ts',
    test: 'a schedule has no reason for its pause where payloads are encrypted, since notes are not',
  },
  {
    defence: 'Later start: a time in seconds does not begin a run at once',
    file: 'protocol/start-at.ts',
    edits: [['at >= Date.now() - LIMITS.startAgoMs', 'true']],
    suite: LATER,
    test: 'a run that begins later is refused for a time in seconds',
  },
  {
    defence: 'Schedule: the reply of a firing is in no history',
    file: WORKFLOW,
    edits: [['withoutReply: true', 'withoutReply: false']],
    suite: SCHEDULES,
    test: 'a firing is a run of the owner in a new conversation, of which no history has the reply',
  },
  {
    defence: 'Schedule: a firing that finds its conversation busy is left out',
    file: WORKFLOW,
    edits: [["whenBusy === 'skip' ? 'fail' : whenBusy", "whenBusy === 'skip' ? 'wait' : 'fail'"]],
    suite: SCHEDULES,
    test: 'a firing that finds its own conversation busy is skipped, or waits',
  },
  {
    defence: 'Schedule: questions of people are withdrawn only where it is wanted',
    file: WORKFLOW,
    edits: [["whenBusy === 'skip' ? 'fail' : whenBusy", "'abandon'"]],
    suite: SCHEDULES,
    test: 'a firing withdraws the questions of a conversation that waits for people only if it may',
  },
  {
    defence: 'Schedule: a program is refused what the API refuses',
    file: EXECUTOR,
    edits: [['    check(input);\n', '']],
    suite: SCHEDULES,
    test: 'a schedule is refused for {"overlap":"allow_all","whenBusy":"wait"}',
  },
  {
    defence: 'Schedule: firings that wait do not gather',
    file: 'protocol/schedules.ts',
    edits: [
      [
        "overlap !== 'allow_all' || whenBusy !== 'wait'",
        "overlap !== 'allow_all' || whenBusy !== 'skip'",
      ],
    ],
    suite: ROUTES,
    test: 'with firings that would gather is refused',
  },
  {
    defence: 'Schedule: a firing is over when its run is',
    file: WORKFLOW,
    edits: [
      [
        'const result = await run.result();',
        "const result = await Promise.race([run.result(), { status: 'completed' as const }]);",
      ],
    ],
    suite: SCHEDULES,
    test: 'a firing that overlaps the one before is skipped, or stops it',
  },
  {
    defence: 'Schedule: a firing that was refused says why',
    file: WORKFLOW,
    edits: [["note({ outcome: 'refused', code });", '']],
    suite: SCHEDULES,
    test: 'a firing of an agent that is gone is refused, and says so',
  },
  {
    defence: 'Schedule: one of a tenant does not exist for another',
    file: EXECUTOR,
    edits: [["toStoredSessionId('', tenant), name)", "toStoredSessionId('', undefined), name)"]],
    suite: SCHEDULES,
    test: 'a schedule of one tenant does not exist for another',
  },
  {
    defence: 'Schedule: another one of its name does not pass for it',
    file: EXECUTOR,
    edits: [['if (its === digest) return state;', "if (its !== '') return state;"]],
    suite: SCHEDULES,
    test: 'a schedule is the same when it is created again, and no other of its name is created',
  },
  {
    defence: 'Schedule: a tenant has no more than it may',
    file: EXECUTOR,
    edits: [['.length >= LIMITS.schedules) {', '.length > LIMITS.schedules) {']],
    suite: SCHEDULES,
    test: 'of a tenant that has as many as it may is refused',
  },
  {
    defence: 'Schedule: times that Temporal does not take are the fault of the request',
    file: EXECUTOR,
    edits: [['if (error instanceof TypeError) throw new', 'if (error === undefined) throw new']],
    suite: SCHEDULES,
    test: 'a schedule is refused for {"cron":"61 * * * *"}',
  },
  {
    defence: 'Schedule: it fires at most once a minute',
    file: 'protocol/schedules.ts',
    edits: [['{4})$/', '{4,6})$/']],
    suite: ROUTES,
    test: 'with seconds is refused',
  },
  {
    defence: 'Schedule: it continues no conversation of another person',
    file: 'api/routes/operator-schedules.ts',
    edits: [['if (!isOwner(record,', 'if (false && !isOwner(record,']],
    suite: ROUTES,
    test: "continues a conversation of its owner's, not of another person",
  },
  {
    defence: 'Schedule: it goes with its owner',
    file: EXECUTOR,
    edits: [['for (const { name } of theirs) await remove(tenant, name);', '']],
    suite: SCHEDULES,
    test: 'a schedule goes with the person whose runs it begins, and with no other',
  },
  {
    defence: 'Schedule: an erasure that left one is not complete',
    file: 'api/people.ts',
    edits: [
      ["error.code === 'unavailable') return false;", "error.code === 'unavailable') return true;"],
    ],
    suite: ROUTES,
    test: 'is deleted with its owner; while Temporal is away the person is not erased completely',
  },
  {
    defence: 'Schedule: only operators change one',
    file: 'ai-sdk/reply/authority.ts',
    edits: [["schedule: 'operator',", "schedule: 'viewer',"]],
    suite: 'test/api/operator-access.test.ts',
    test: 'createSchedule as "viewer" a colleague is served by role',
  },
  {
    defence: 'Start later: the workflow waits for the time',
    file: 'workflows/start-time.ts',
    edits: [['if (waitMs <= 0) return true;', 'if (waitMs > 0) return true;']],
    suite: LATER,
    test: 'a run that begins later begins at its time',
  },
  {
    defence: 'Start later: the wait is no time of the run’s work, in traces, timeline and metrics',
    file: 'stores/transitions/claim.ts',
    edits: [['    noteLaterStart(session, root, now);\n', '']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'begin a run that begins later has started then: its wait is no time of its work',
  },
  {
    defence: 'Start later: a stop ends the wait',
    file: 'workflows/start-time.ts',
    edits: [['() => state.carry.stopRequested', '() => state.carry.step < 0']],
    suite: LATER,
    test: 'a run that begins later waits in the record and in Temporal, across workers, until it is stopped',
  },
  {
    defence: 'Start later: a run that the sweeper starts waits, too',
    file: 'executor/run-start.ts',
    edits: [['startAt: startOf(record)', 'startAt: undefined']],
    suite: LATER,
    test: 'a run that begins later is started by the sweeper if its workflow was never started, and still waits then',
  },
  {
    defence: 'Start later: the time within which a run must be started counts from its time',
    file: 'executor/sweep-session.ts',
    edits: [['Math.max(record.runStartedAt, startOf(record) ?? 0)', 'record.runStartedAt']],
    suite: 'test/executor/decide-sweep.test.ts',
    test: 'decideSweep, of a run that begins later starts a workflow that Temporal does not know, and counts its time from the beginning',
  },
  {
    defence: 'Start later: nothing that waits for people is abandoned for it',
    file: 'stores/transitions/begin.ts',
    edits: [["if (isLater && (isActive || waiting > 0)) return only('busy');", '']],
    test: 'begin a run that begins later abandons nothing that waits for people',
  },
  {
    defence: 'Start later: in one process, too, a run waits for its time',
    file: 'in-process/carry-run.ts',
    edits: [['ms > 0 && (await', 'ms < 0 && (await']],
    suite: 'test/in-process/local-runs.test.ts',
    test: 'a run that begins later waits for its time, and is stopped before',
  },
];

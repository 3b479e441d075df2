// Defences of the executor: runs start, are swept and end, with or without their engine.
const OUTAGE = 'test/executor/outage.test.ts';
const ATTRIBUTES = 'test/executor/search-attributes.test.ts';
const SWEEP = 'test/executor/sweep.test.ts';

export const executor = [
  {
    defence: 'A run that writes nothing for long is reported as stalled',
    file: 'stores/record/stalled.ts',
    edits: [['now - heard > LIMITS.stalledMs', 'now - heard > 2 * LIMITS.stalledMs']],
    suite: 'test/executor/no-worker.test.ts',
    test: 'while no worker is there a message is accepted and shown; it is answered when a worker comes',
  },
  {
    defence: 'Sweep: an answer whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [["  if (isUntaken(record) && silentMs > UNTAKEN_MS) return 'wake';\n", '']],
    suite: SWEEP,
    test: 'the sweep the sweep gives a run an answer whose signal was lost',
  },
  {
    defence: 'Sweep: a sub-agent’s answer whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [[' || wakes !== undefined;', ';']],
    suite: 'test/executor/sub-agents.test.ts',
    test: 'a sub-agent whose wake-up was lost is woken by a sweep',
  },
  {
    defence: 'Sweep: a stop whose signal was lost is given again',
    file: 'executor/sweep-session.ts',
    edits: [["workflow === 'running' ? 'stop' : 'forget'", "'forget'"]],
    suite: SWEEP,
    test: 'the sweep the sweep ends the workflow of a run whose stop was lost',
  },
  {
    defence: 'Sweep: a run whose workflow is closed is ended',
    file: 'executor/sweep-session.ts',
    edits: [["  if (workflow === 'closed') return 'fail';\n", '']],
    suite: SWEEP,
    test: 'the sweep the sweep ends a waiting run whose workflow was terminated',
  },
  {
    defence: 'Sweep: a run that was never started is started',
    file: 'executor/sweep-session.ts',
    edits: [["isOverdue ? 'give_up' : 'start'", "isOverdue ? 'give_up' : 'nothing'"]],
    suite: SWEEP,
    test: 'the sweep the sweep starts a run that was made and never started',
  },
  {
    defence: 'Sweep: what was found at rest is looked at once more',
    file: 'executor/sweep.ts',
    edits: [["  if (list === 'urgent') return { list: 'routine', inMs: CONFIRM_MS };\n", '']],
    suite: SWEEP,
    test: 'the sweep the sweep finds a run that begins long after it was noted',
  },
  {
    defence: 'Sweep: a session that was noted while it was looked at stays listed',
    file: 'stores/transitions/put-due.ts',
    edits: [["  if (redis.call('ZSCORE', from, sessionId) !== taken) return 0;\n", '']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'sessions that are due a taken session is put elsewhere unless it was noted meanwhile',
  },
  {
    defence: 'Sweep: fleets on one Redis leave each other’s sessions alone',
    file: 'stores/redis/due-lists.ts',
    edits: [['createDueLists(context, other)', 'createDueLists(context, fleet)']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'sessions that are due a list holds the sessions of one fleet, and a page those of one shard',
  },
  {
    defence: 'Sweep: workflows that were closed from outside are asked for',
    file: 'executor/find-closed.ts',
    edits: [[' await due.note(sessionId, 0);', ' continue;']],
    suite: SWEEP,
    test: 'the sweep the sweep notes a waiting run whose workflow was terminated, by a query for such',
  },
  {
    defence: 'Sweep: a stop whose request died is carried out',
    file: 'executor/sweep-session.ts',
    edits: [
      ["  if (record.stop !== undefined && silentMs > UNCONFIRMED_MS) return 'enforce';\n", ''],
    ],
    suite: SWEEP,
    test: 'the sweep the sweep carries out a stop that no writer confirmed, and whose request died',
  },
  {
    defence: 'Sweep: what release 0.2.0 has noted is taken in',
    file: 'executor/sweep.ts',
    edits: [['      if (shard === 0) await due.adopt(ADOPTED);\n', '']],
    suite: SWEEP,
    test: 'the sweep the sweep adopts the sessions that release 0.2.0 has noted',
  },
  {
    defence: 'A message is not refused for want of the engine',
    file: 'executor/create-runs.ts',
    edits: [
      [
        "if (result.kind === 'begun') launch(result.run, input.tenant);\n    else",
        "if (result.kind === 'begun') await startRun(result.run, input.tenant);\n    else",
      ],
    ],
    suite: OUTAGE,
    test: 'starting a run a message does not wait for Temporal while it is down, and the sweep starts the run afterwards',
  },
  {
    defence: 'A run that is not started in time ends',
    file: 'executor/sweep-session.ts',
    edits: [["isOverdue ? 'give_up' : 'start'", "'start'"]],
    suite: OUTAGE,
    test: 'starting a run a message does not wait for Temporal while it is down, and the sweep starts the run afterwards',
  },
  {
    defence: 'A run that is starting is erased without the engine',
    file: 'executor/erase.ts',
    edits: [["if (record.status !== 'starting') await signalled;", 'await signalled;']],
    suite: 'test/executor/delete.test.ts',
    test: 'a session that is erased while its run is starting needs no engine; its workflow finds nothing and ends',
  },
  {
    defence: 'Search attributes of another type are not used',
    file: 'executor/search-attributes.ts',
    edits: [['if (others.length > 0) {', 'if (others.length > 99) {']],
    suite: ATTRIBUTES,
    test: 'a search attribute of another type a search attribute of another type is noticed, and runs start without attributes',
  },
  {
    defence: 'A run whose search attributes are refused is started without',
    file: 'executor/run-workflows.ts',
    edits: [
      ['        if (isBare || !isRefusedForGood(error)) throw error;\n', '        throw error;\n'],
    ],
    suite: ATTRIBUTES,
    test: 'a search attribute of another type a search attribute of another type that is added later does not refuse a run, which starts without attributes',
  },
  {
    defence: 'A run that is refused for good ends',
    file: 'executor/create-runs.ts',
    edits: [['if (!isRefusedForGood(error)) throw error;', 'throw error;']],
    suite: ATTRIBUTES,
    test: 'a run that Temporal refuses for good a run that Temporal refuses for good ends with a typed error, and the next message is accepted',
  },
  {
    defence: 'Readiness: what is away after it was seen takes no process out',
    file: 'api/readiness.ts',
    edits: [['away.every((name) => name !== NEEDED && seen.has(name))', 'away.length === 0']],
    suite: 'test/api/access.test.ts',
    test: 'failures and readiness the server is ready once every part was seen, while Redis answers, and names parts that are away',
  },
  {
    defence: 'The result of a run that waits names what it waits for',
    file: 'executor/run-result.ts',
    edits: [['isPaused ? toPendingQuestions(view.openCalls) : []', '[]']],
    suite: 'test/executor/suspended-results.test.ts',
    test: 'what a run waits for the questions of a run include those of its sub-agents',
  },
];

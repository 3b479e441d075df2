// The defences of batches and of paused agents; see mutations.mjs.
const PAGE = 'test/executor/batch-page.test.ts';
const BATCH_ACTIVITY = 'test/worker/batch-activity.test.ts';
const PAUSES = 'test/executor/agent-pauses.test.ts';
const ACCESS = 'test/api/operator-access.test.ts';
const HELD = 'no run of a paused agent is started or given up, and all start in their order';

export const bulk = [
  {
    defence: 'Operators: an act with a key is carried out once',
    file: 'api/routes/index.ts',
    edits: [['isAct(route) ? onceByKey(route) : route', 'route']],
    suite: ACCESS,
    test: 'an act with a key sent again it gets the first reply, and is not carried out again',
  },
  {
    defence: 'Operators: a key is of one caller',
    file: 'api/routes/once.ts',
    edits: [['[tenantId, userId, request.method', '[tenantId, request.method']],
    suite: ACCESS,
    test: 'an act with a key sent again it gets the first reply, and is not carried out again',
  },
  {
    defence: "Operators: a colleague's read of a run's questions is recorded",
    file: 'api/routes/operator-runs.ts',
    edits: [['await recordRead(deps, toActor(call), record);', '']],
    suite: ACCESS,
    test: "a colleague's reads of what runs ask are recorded, once in an hour",
  },
  {
    defence: 'Batch: an attempt knows what an earlier one has done',
    file: 'executor/batch-page.ts',
    edits: [["return (await wasDone(ref, item, actId)) ? 'done' : outcome;", 'return outcome;']],
    suite: PAGE,
    test: 'a page that is repeated as a whole does each deny once, and counts it as done',
  },
  {
    defence: 'Batch: an act that is repeated has one entry in the trail',
    file: 'executor/batch-page.ts',
    edits: [['const how = { roles, via, actId };', 'const how = { roles, via };']],
    suite: PAGE,
    test: 'a page that is repeated as a whole does each stop once, and counts it as done',
  },
  {
    defence: 'Batch: a retry repeats the run that it names, and no newer one',
    file: 'executor/reruns.ts',
    edits: [
      ['if (wanted !== undefined && wanted !== record.runId) throw staleRun(record.runId);', ''],
    ],
    suite: PAGE,
    test: 'a page that is repeated as a whole does each retry once, and counts it as done',
  },
  {
    defence: 'Batch: a cancel leaves alone what was not tried',
    file: 'executor/batch-page.ts',
    edits: [['        if (isOver()) {', '        if (isOver() && part.tried < 0) {']],
    suite: PAGE,
    test: 'a page that is cancelled says how many of its first items it has tried',
  },
  {
    defence: 'Batch: a page that fails begins no further act',
    file: 'executor/batch-page.ts',
    edits: [['          hasFailed = true;\n', '']],
    suite: PAGE,
    test: 'a page that fails waits for the acts under way, and begins no other',
  },
  {
    defence: 'Batch: its workflow is given numbers, and no names',
    file: 'executor/batches.ts',
    edits: [['size, counts } satisfies', 'size, counts, actor } satisfies']],
    suite: 'test/executor/batches.test.ts',
    test: 'the names of a batch are in its record, and none in Temporal',
  },
  {
    defence: 'Batch: what was refused is named in its record, and not to Temporal',
    file: 'executor/batch-work.ts',
    edits: [['return { ...part, problems: [] };', 'return part;']],
    suite: BATCH_ACTIVITY,
    test: 'what a page refuses is named in the record, and not to Temporal',
  },
  {
    defence: 'Batch: Temporal keeps the code of a failure, and no text',
    file: 'worker/batch-activity.ts',
    edits: [['throw toFailure(error);', 'throw error;']],
    suite: BATCH_ACTIVITY,
    test: 'a page that fails tells Temporal the code alone, and is tried again',
  },
  {
    defence: 'Batch: its work goes with its end',
    file: 'worker/batch-activity.ts',
    edits: [['batches?.end(batchId)', 'undefined']],
    suite: BATCH_ACTIVITY,
    test: 'a page whose batch has ended fails for good',
  },
  {
    defence: 'Batch: the names of one that acts are erased after its end',
    file: 'api/people.ts',
    edits: [["if (state === 'acts') continue;", '']],
    suite: 'test/api/operator-batches.test.ts',
    test: 'goes with the person who began it: while it acts, or Temporal is away, something is left',
  },
  {
    defence: 'Batch: a record is not stored without its limit in time',
    file: 'stores/redis/batches.ts',
    edits: [['            .pexpire(key, KEPT_MS),', '']],
    suite: 'test/stores/redis/batches.test.ts',
    test: 'nothing that a process stored before it died is kept without end (2)',
  },
  {
    defence: 'Batch: an attempt that outlives its batch does not make the record again',
    file: 'stores/transitions/note-refusals.ts',
    edits: [["if (redis.call('EXISTS', batch) === 0) return 0;", '']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'records of batches a batch names a few of its refusals, and none once it is forgotten',
  },
  {
    defence: 'Pause: a run whose workflow waits for its time is not listed as held',
    file: 'executor/sweep-session.ts',
    edits: [['if (!mayWait && record', 'if (record']],
    suite: 'test/executor/agent-pauses.test.ts',
    test: 'a pause holds a run that is to begin later only if its workflow is not started',
  },
  {
    defence: 'Batch: one that an earlier build began ends as it began',
    file: 'workflows/batch.ts',
    edits: [['if (input.items !== undefined)', 'if (false)']],
    suite: 'test/workflows/replay.test.ts',
    test: 'histories of releases v0.2.0-batch-with-its-names replays on the workflow code of today',
  },
  {
    defence: 'Batch: a request that is sent again with its key finds the batch that it began',
    file: 'api/routes/operator-batches.ts',
    edits: [['if (begun !== undefined) {', 'if (false) {']],
    suite: 'test/api/operator-batches.test.ts',
    test: 'one that began in a request that was not confirmed is not begun again with its key',
  },
  {
    defence: 'Batch: each act is permitted to the one who begins it',
    file: 'api/batch-targets.ts',
    edits: [
      ["(await decides(deps, caller, record, spec)) ? undefined : 'not_allowed'", 'undefined'],
    ],
    suite: ACCESS,
    test: 'the rule of a host a batch leaves out what a single act would be refused, and names it',
  },
  {
    defence: 'Pause: a run of a paused agent is not started',
    file: 'executor/create-runs.ts',
    edits: [
      [
        'if (!isHeld) await startRun({ ...run, startAt }, tenant);',
        'await startRun({ ...run, startAt }, tenant);',
      ],
    ],
    suite: PAUSES,
    test: HELD,
  },
  {
    defence: 'Pause: the sweeper leaves held runs alone',
    file: 'executor/sweep-session.ts',
    edits: [["record.status === 'starting' && (await deps.isHeld(record))", 'false']],
    suite: PAUSES,
    test: HELD,
  },
  {
    defence: 'Pause: while Temporal is away a held run keeps its place',
    file: 'executor/agent-pauses.ts',
    edits: [
      ["if (HelixError.isInstance(error) && error.code === 'unavailable') return false;", ''],
    ],
    suite: PAUSES,
    test: HELD,
  },
  {
    defence: 'Pause: a held run whose start fails is tried again',
    file: 'executor/agent-pauses.ts',
    edits: [['if (now - since <= startWithinMs) {', 'if (false) {']],
    suite: PAUSES,
    test: 'a released run whose start fails keeps being held, and is tried again behind the others',
  },
  {
    defence: 'Pause: of all tenants only by callers without one',
    file: 'api/routes/operator-agents.ts',
    edits: [
      [
        'if (body.everywhere && caller.tenantId !== undefined) {',
        'if (body.everywhere && false) {',
      ],
    ],
    suite: ACCESS,
    test: 'an agent is paused over all tenants by callers without a tenant only',
  },
  {
    defence: 'Forks: a copy whose request died is continued by the sweep',
    file: 'executor/sweep-session.ts',
    edits: [['> UNCONTINUED_MS ?', '> Infinity ?']],
    suite: 'test/executor/decide-sweep.test.ts',
    test: 'decideSweep decideSweep continues the copy of a fork that was not resumed by its request',
  },
  {
    defence: 'Forks: a request that is sent again with its key finds its copy',
    file: 'executor/forks.ts',
    edits: [['key === undefined ? newNonce() : toNonce(key, step)', 'newNonce()']],
    suite: 'test/api/operator-fork.test.ts',
    test: 'a fork that was cut off after its copy is sent again with its key: the same copy is continued once',
  },
  {
    defence: 'Forks: a copy is erased only if its run was refused',
    file: 'executor/forks.ts',
    edits: [["!HelixError.isInstance(error) || error.code === 'unavailable'", 'false']],
    suite: 'test/api/operator-fork.test.ts',
    test: 'the id of a copy that is cut off is taken for every other request',
  },
  {
    defence: 'Forks: a copy that a sweep may not continue yet is kept',
    file: 'executor/forks.ts',
    edits: [['PASSES.has(error.code)', 'false']],
    suite: 'test/api/operator-fork.test.ts',
    test: 'a copy that is cut off is kept while its owner may run no more, and continued once that passes',
  },
  {
    defence: 'Export: transcripts of sub-agents are in it',
    file: 'api/export-person.ts',
    edits: [['await sessions.children(storedId)', '[]']],
    suite: 'test/api/person-export.test.ts',
    test: 'an export has the transcripts of sub-agents',
  },
];

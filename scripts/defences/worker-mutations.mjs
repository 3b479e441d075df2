// Defences of the worker: its plugin, its versions, its stops and its connections.

export const workers = [
  {
    defence: 'A worker that is asked to stop finishes active steps',
    file: 'worker/worker-settings.ts',
    edits: [["shutdownGraceTime: '30s'", "shutdownGraceTime: '0s'"]],
    suite: 'test/worker/drain.test.ts',
    test: 'a worker that is asked to stop a worker that is asked to stop lets the running call finish',
  },
  {
    defence: 'An older version that starts again takes no new runs',
    file: 'worker/versioning.ts',
    edits: [
      ["    if (current != null && current !== '' && current !== from) return current;\n", ''],
    ],
    suite: 'test/worker/agent-plugin.test.ts',
    test: 'versioning an old version that is started again does not take new runs back',
  },
  {
    defence: 'Liveness: a worker that cannot write does not report itself alive',
    file: 'activities/open-attempt.ts',
    edits: [['if (canWrite()) context', 'context']],
    suite: 'test/activities/heartbeat.test.ts',
    test: 'does not beat while the store leaves its writes unanswered',
  },
  {
    defence: 'Stop: a late message about an earlier run cuts nothing',
    file: 'activities/cut-on-stop.ts',
    edits: [['return stopped === runId;', 'return true;']],
    suite: 'test/activities/model-step-stops.test.ts',
    test: 'model step a late message about an earlier run does not cut a model step',
  },
  {
    defence: "Plugin: agentRun is added to the worker's own workflows",
    file: 'worker/agent-plugin.ts',
    edits: [['    configureBundler: addAgentRun,\n', '']],
    suite: 'test/worker/own-workflows.test.ts',
    test: 'a worker whose own workflows do not export agentRun a worker whose own workflows lack agentRun runs agents, since the plugin adds it',
  },
  {
    defence: 'Plugin: a prebuilt bundle without agentRun is refused at the start',
    file: 'worker/workflow-source.ts',
    edits: [['  if (workflowBundle !== undefined) await checkBundle(workflowBundle);\n', '']],
    suite: 'test/worker/own-workflows.test.ts',
    test: 'a worker whose own workflows do not export agentRun a worker whose bundle lacks agentRun is refused at its start, in memory or in a file',
  },
  {
    defence: 'What is sent before the first connection to Redis waits for it',
    file: 'stores/redis/create-context.ts',
    edits: [
      ['connected !== undefined && isConnecting ?', 'connected !== undefined && !isConnecting ?'],
    ],
    suite: 'test/stores/redis/outage.test.ts',
    test: 'a Redis that is away a store that was opened just now waits for its first connection (refuse)',
  },
  {
    defence:
      'Workers: one silent node of a cluster does not stop a worker whose other nodes answer',
    file: 'stores/redis/unanswered.ts',
    edits: [['        answeredAt = performance.now();\n', '']],
    suite: 'test/stores/redis/unanswered.test.ts',
    test: 'a connection is silent while a command waits and nothing is answered',
  },
  {
    defence: "Plugin: the bundler finds packages of the application, beside the plugin's own",
    file: 'worker/workflow-source.ts',
    edits: [['[...modules, ...packageFoldersOf(dirname(file))]', 'modules']],
    suite: 'test/worker/own-packages.test.ts',
    test: 'the bundler with the plugin finds interceptors in packages that only the application has',
  },
  {
    defence: 'Leases: a process that fails to start leaves none behind, by its settings',
    file: 'worker/main.ts',
    edits: [['    await lease?.lease.close();\n', '']],
    suite: 'test/e2e/startup.test.ts',
    test: 'a worker that cannot start leaves no lease behind: MODEL',
  },
  {
    defence: 'Leases: nor one whose port is taken',
    file: 'worker/run-worker.ts',
    edits: [['    await lease?.lease.close();\n', '']],
    suite: 'test/e2e/startup.test.ts',
    test: 'a worker that cannot start leaves no lease behind: WORKER_METRICS_PORT',
  },
  {
    defence: 'Leases: a worker of the plugin begins its lease when it runs',
    file: 'worker/agent-plugin.ts',
    edits: [
      ['import { createLease, type', 'import { beginLease, type'],
      ['leases && createLease(', 'leases && beginLease('],
    ],
    suite: 'test/worker/agent-plugin.test.ts',
    test: 'the plugin begins no lease for a worker that could not be created',
  },
  {
    defence: 'Codec: texts of failures are in no history',
    file: 'worker/agent-plugin.ts',
    edits: [['        ...withSeal(worker),\n', '']],
    suite: 'test/worker/sealed-failures.test.ts',
    test: 'with a codec no text of a failure is in a history, in the shape leg',
  },
  {
    defence: 'Codec: a failed run says why in what is encrypted',
    file: 'workflows/agent-run.ts',
    edits: [['input.sealsFailures === true', 'false']],
    suite: 'test/worker/sealed-failures.test.ts',
    test: 'with a codec no text of a failure is in a history, in the shape leg',
  },
];

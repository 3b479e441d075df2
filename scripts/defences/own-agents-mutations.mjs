// The defences of a person's own agents in the shipped processes; see mutations.mjs.

const DEV = 'test/e2e/own-agents.test.ts';
const FAULTS = 'test/e2e/own-agents-faults.test.ts';
const STOP = 'test/scripts/stop-request.test.mjs';

export const ownAgents = [
  {
    defence: 'Own agents: a changed file is looked at before anything is replaced',
    file: 'scripts/start/own-agents.mjs',
    edits: [
      [
        '    const names = await checkAgents(agents, { folder, signal });\n    await processes',
        "    const names = ['own'];\n    await processes",
      ],
    ],
    suite: DEV,
    test: 'helix-temporal dev a file that cannot be loaded is named, and the agents run as before',
  },
  {
    defence: 'Own agents: a worker goes once its successor takes work',
    file: 'scripts/start/processes.mjs',
    edits: [['await orDrop(worker, () => worker.ready);', '']],
    suite: DEV,
    test: 'helix-temporal dev a new worker that does not come up replaces nothing',
  },
  {
    defence: 'Own agents: a worker stays until the API beside its successor is loaded',
    file: 'scripts/start/processes.mjs',
    edits: [['await retire(worker.member, { graceMs: DRAIN_MS });', 'current.worker = worker;']],
    suite: DEV,
    test: 'helix-temporal dev a new API that does not come up replaces nothing',
  },
  {
    defence: 'Own agents: two agents of one name are refused',
    file: 'agents/agents-file.ts',
    edits: [['registry.register(agent)', 'registry.replace(agent)']],
    suite: FAULTS,
    test: 'a file of agents that cannot be used ends each command with one sentence a file that names an agent twice',
  },
  {
    defence: 'Own agents: a file that never finishes loading ends though the command was killed',
    file: 'scripts/start/check-agents.mjs',
    edits: [["process.once('disconnect', () => process.exit());", '']],
    suite: FAULTS,
    test: 'a file that never finishes loading leaves no process behind after SIGKILL',
  },
  {
    defence: 'Own agents: an .env that cannot be read is a sentence',
    file: 'scripts/start/own-agents.mjs',
    edits: [
      ['throw new UsageError(`${file} cannot be read', 'throw new Error(`${file} cannot be read'],
    ],
    suite: FAULTS,
    test: 'other faults an .env that cannot be read',
  },
  {
    defence: 'Own agents: a folder that cannot be made is a sentence',
    file: 'scripts/start/product.mjs',
    edits: [['return withFileFaults(() => run(how));', 'return run(how);']],
    suite: FAULTS,
    test: 'other faults a folder for conversations that cannot be made',
  },
  {
    defence: 'Start: one Ctrl-C that arrives twice does not kill',
    file: 'scripts/start/stop-request.mjs',
    edits: [['now() - requestedAt > SAME_PRESS_MS', 'true']],
    suite: STOP,
    test: 'one Ctrl-C that arrives twice, by the terminal and by npm, kills nothing',
  },
  {
    defence: 'Start: what was killed does not end as done',
    file: 'scripts/start/stop-request.mjs',
    edits: [['process.exitCode = 128 + constants.signals[name];', '']],
    suite: STOP,
    test: 'a second Ctrl-C kills, and the exit code says that it was forced',
  },
];

// Defences of metrics and the verdict: events count once, series are bounded, strangers learn nothing.
const CHANGES = 'test/stores/record/meter-changes.test.ts';
const METER = 'test/worker/metrics/core-meter.test.ts';
const VERDICT = 'test/executor/judge-health.test.ts';

export const metrics = [
  {
    defence: 'Metrics: a run waits for no tenant',
    file: 'worker/metrics/with-tenants.ts',
    edits: [['() => undefined', 'undefined']],
    suite: METER,
    test: 'cost is counted by tenant where that is wanted, and what cannot be read is of none',
  },
  {
    defence: 'Metrics: OTLP has the names of the conventions',
    file: 'worker/metrics/with-dots.ts',
    edits: [['counter.add(value, toTags(tags));', 'counter.add(value, tags);']],
    suite: METER,
    test: 'names and attributes for OTLP are those of the conventions',
  },
  {
    defence: 'Metrics: a question that is over does not wait',
    file: 'stores/redis/waiting-index.ts',
    edits: [['view?.openCalls.filter(asks) ?? []', 'view?.openCalls ?? []']],
    suite: 'test/api/metrics.test.ts',
    test: 'questions that wait are counted by agent and kind, those that are over are not',
  },
  {
    defence: 'Metrics: a budget that is spent is counted',
    file: 'executor/budgets.ts',
    edits: [
      ["if (isSpent) meter({ kind: 'budget_spent'", "if (!isSpent) meter({ kind: 'budget_spent'"],
    ],
    suite: 'test/executor/budgets.test.ts',
    test: 'budgets with the action warn runs begin, and it is logged once',
  },
  {
    defence: 'Health: notices that do not arrive are named',
    file: 'executor/judge-health.ts',
    edits: [['if (notices !== undefined) return notices;', '']],
    suite: VERDICT,
    test: 'the verdict on the service notices are given up',
  },
  {
    defence: 'Health: what it refers to exists',
    file: 'executor/judge-health.ts',
    edits: [['runbook.md#helixrunsfail', 'runbook.md#runsfail']],
    suite: VERDICT,
    test: 'the verdict on the service what it refers to exists',
  },
  {
    defence: 'Metrics: a run that has ended before is not counted again',
    file: 'stores/record/meter-changes.ts',
    edits: [[' && before !== undefined && isNews) {', ') {']],
    suite: CHANGES,
    test: 'what transitions report a run that ended counts once, however often its end is repeated',
  },
  {
    defence: 'Metrics: they refuse no stop',
    file: 'stores/record/meter-changes.ts',
    edits: [['read(rootOf(sessionId)).catch(() => undefined)', 'read(rootOf(sessionId))']],
    suite: CHANGES,
    test: 'what transitions report metrics that cannot be read refuse neither an end nor a stop',
  },
  {
    defence: 'Metrics: cost of two workers in one process is their sum',
    file: 'worker/metrics/core-meter.ts',
    edits: [['SPENT.get(meter) ?? new', 'new']],
    suite: METER,
    test: 'cost is the sum of all workers that share a meter',
  },
  {
    defence: 'Metrics: an answer that was refused is not counted',
    file: 'stores/record/meter-changes.ts',
    edits: [
      [
        "        if (result.kind === 'stored') {\n          const waitedSeconds",
        '        if (result) {\n          const waitedSeconds',
      ],
    ],
    suite: CHANGES,
    test: 'what transitions report an answer counts once, with how long the question waited',
  },
  {
    defence: 'Metrics: names of one kind are bounded',
    file: 'worker/metrics/label-names.ts',
    edits: [['if (known.size >= most) return OTHER;', '']],
    suite: METER,
    test: 'names beyond a hundred share one series',
  },
  {
    defence: 'Metrics: cost is a sum',
    file: 'worker/metrics/core-meter.ts',
    edits: [['spent.set(key, sum);', '']],
    suite: METER,
    test: 'cost is the sum of all replies, in dollars',
  },
  {
    defence: 'Metrics: an answered question is not the one that has waited longest',
    file: 'stores/redis/waiting-index.ts',
    edits: [
      [
        '        if (view?.openCalls.some(asks)) {\n          return { count:',
        '        if (view !== undefined) {\n          return { count:',
      ],
    ],
    suite: CHANGES,
    test: 'a question that was answered is not the one that has waited longest',
  },
  {
    defence: 'Verdict: the same facts give the same text',
    file: 'executor/health-counts.ts',
    edits: [['n - m || (a < b ? -1 : 1)', 'n - m']],
    suite: VERDICT,
    test: 'the verdict on the service the same facts give the same text, in whatever order they were counted',
  },
  {
    defence: 'Verdict: failures are held against the week before',
    file: 'executor/health-week.ts',
    edits: [['(GROWTH * usual) / known', 'Infinity']],
    suite: VERDICT,
    test: 'the verdict on the service the provider fails more than in the week before',
  },
  {
    defence: 'Verdict: messages that no longer arrive are noticed',
    file: 'executor/health-week.ts',
    edits: [['now >= quietest * QUIET_SHARE', 'now >= 0']],
    suite: VERDICT,
    test: 'the verdict on the service no messages arrive where there were always many',
  },
  {
    defence: 'Verdict: nights and Sundays are no silence',
    file: 'executor/health-week.ts',
    edits: [['Math.min(...week', 'Math.max(...week']],
    suite: VERDICT,
    test: 'the verdict on the service a quiet hour of a service that rests on some days is normal',
  },
  {
    defence: 'Verdict: a week is kept',
    file: 'stores/redis/tallies.ts',
    edits: [['7 * DAY_MS + LONGEST_MS', 'LONGEST_MS']],
    suite: 'test/executor/health-facts.test.ts',
    test: 'a period is compared with the same hours of each of the seven days before',
  },
  {
    defence: 'Verdict: users without a role learn nothing',
    file: 'api/routes/operator-health.ts',
    edits: [["    await requireAllowed(deps, caller, 'read');\n", '']],
    suite: 'test/api/operator-health.test.ts',
    test: 'the verdict over HTTP a user without a role learns nothing',
  },
  {
    defence: 'Verdict: tenants learn nothing of each other',
    file: 'api/routes/operator-health.ts',
    edits: [['if (caller.tenantId !== undefined) {', 'if (caller.tenantId === null) {']],
    suite: 'test/api/operator-health.test.ts',
    test: 'the verdict over HTTP a user of a tenant, since the facts are of all tenants learns nothing',
  },
  {
    defence: 'Verdict: a fleet without leases does not flow, though Temporal still lists its polls',
    file: 'executor/judge-health.ts',
    edits: [['workers === 0 || pollers.runs === 0', 'pollers.runs === 0']],
    suite: VERDICT,
    test: 'the verdict on the service no worker holds a lease',
  },
  {
    defence: 'Verdict: there is one while Redis does not serve',
    file: 'executor/health-facts.ts',
    edits: [
      ["error.code === 'unavailable') return { fault", "error.code === 'late') return { fault"],
    ],
    suite: 'test/executor/health-facts.test.ts',
    test: 'what is away is a fact, and an error of this code is thrown',
  },
  {
    defence: 'Verdict: a Redis that does not serve is named',
    file: 'executor/judge-health.ts',
    edits: [['flow: bad(`No message', 'flow: warn(`No message']],
    suite: VERDICT,
    test: 'the verdict on the service a Redis that does not serve is named, with what Temporal says, and nothing else is judged',
  },
];

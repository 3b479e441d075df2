// Budgets of attempts, and what keeps one party's calls from the others; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';
const ATTEMPTS = 'test/activities/attempts.test.ts';

export const attempts = [
  {
    defence: 'Attempts: a step ends when five were lost',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [
      ['taken !== undefined && isExhausted(session, name, owner.token, taken.budget)', 'false'],
    ],
    test: 'attempts a step fails after five lost attempts',
  },
  {
    defence: 'Attempts: an idempotent call ends when five were lost',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [[' || (isTaken && isExhausted(session, name, owner.token, budget))', '']],
    test: 'attempts an idempotent call ends as outcome unknown after five lost attempts',
  },
  {
    defence: 'Attempts: one that hands over is not counted',
    file: `${TRANSITIONS}/lib/budget.ts`,
    edits: [
      [
        '  if (handedOver === false || num(handedOver) !== token) {\n    lost',
        '  if (true) {\n    lost',
      ],
    ],
    test: 'attempts an attempt that hands over (left) leaves 0 lost attempts',
  },
  {
    defence: 'Attempts: one that was judged dead and lives is forgiven',
    file: `${TRANSITIONS}/hand-over.ts`,
    edits: [["if (how === 'left') forgive(session, name, token);", '']],
    test: 'attempts an attempt that was judged dead is forgiven when it reports that it lives',
  },
  {
    defence: 'Attempts: a count of losses is not forgiven indefinitely',
    file: `${TRANSITIONS}/lib/budget.ts`,
    edits: [['if (forgiven > MOST_FORGIVEN) return;', 'if (forgiven > 30) return;']],
    test: 'attempts at most twenty attempts are forgiven, so a step that always outlives its judgement ends too',
  },
  {
    defence: 'Attempts: the tokens of a lost attempt count against the spend cap',
    file: `${TRANSITIONS}/claim.ts`,
    edits: [['    addSpoken(session, spoken.bytes, lost?.perToken ?? 0);\n', '']],
    test: 'attempts the output of a lost attempt is charged',
  },
  {
    defence: 'Attempts: a drain is no execution of a tool',
    file: `${TRANSITIONS}/hand-over.ts`,
    edits: [["      redis.call('HINCRBY', session.calls, `n:${toolCallId}`, '-1');\n", '']],
    test: 'attempts an attempt at a call that a drain cut short is not an execution',
  },
  {
    defence: 'Attempts: one that outlives its time counts as lost',
    file: 'activities/attempt.ts',
    edits: [['  if (attempt.outlived()) return false;\n', '']],
    suite: ATTEMPTS,
    test: 'a model call that outlives its activity a model call that outlives its activity ends with a typed error after five attempts, and its partial reply has its price',
  },
  {
    defence: 'Attempts: a worker that does not know the tool asks for no permission',
    file: 'activities/tool-call.ts',
    edits: [['if (!isGivenUp && !isKnown(agent, ref) && !(await isOver(ref))) {', 'if (false) {']],
    suite: ATTEMPTS,
    test: 'a worker of another release a worker that does not know the tool leaves the call untouched for one that does',
  },
  {
    defence: 'Agents: a factory is given the user whose agent it makes',
    file: 'activities/run-agent.ts',
    edits: [
      [
        'agents.isMade(agent) ? await findOwner({ sessionId, runId }) : undefined',
        'await findOwner({ sessionId: "", runId })',
      ],
    ],
    suite: 'test/activities/agent-scope.test.ts',
    test: 'a factory is given the session, the run and the user whose agent it makes, in steps and in calls',
  },
  {
    defence: 'Calls: a step has a number of them',
    file: 'activities/model/step-commit.ts',
    edits: [['most = LIMITS.callsPerStep }', 'most = 1_000_000 }']],
    suite: 'test/workflows/many-calls.test.ts',
    test: 'many calls of one step calls beyond the agent’s number get an error as result, and the run continues and can be stopped',
  },
  {
    defence: 'Calls: they are carried out in waves',
    file: 'workflows/step-calls.ts',
    edits: [['const CALLS_AT_ONCE = 10;', 'const CALLS_AT_ONCE = 1000;']],
    suite: 'test/workflows/many-calls.test.ts',
    test: 'many calls of one step many calls are executed in waves',
  },
  {
    defence: 'Calls: no user has more than a share of the tools’ places',
    file: 'activities/tool/fair-slots.ts',
    edits: [['inUse < total && used(user) < perUser;', 'inUse < total;']],
    suite: 'test/activities/fair-slots.test.ts',
    test: 'places for tools a user’s calls beyond the share wait for slots, and no other user’s do',
  },
  {
    defence: 'Sub-agents: a reset parent waits for a sub-agent that is active',
    file: 'workflows/sub-agent.ts',
    edits: [['if (wasStarted && patched(PATCHES.childIsAtWork))', 'if (false)']],
    suite: 'test/e2e/temporal-by-hand.test.ts',
    test: 'the workflow of a run reset while its sub-agent asks: the answer is carried out, and both workflows end',
  },
];

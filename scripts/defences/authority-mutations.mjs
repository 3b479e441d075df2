// The defences of who decides; see mutations.mjs.

const OPERATORS = 'test/e2e/operators.test.ts';
const REFUND = 'a refund that a colleague has to approve ';
const MATRIX = 'test/api/operator-access.test.ts';

export const authority = [
  {
    defence: 'Authority: what a tool demands of its approver is checked for each answer',
    file: 'executor/answers.ts',
    edits: [['await demands.require(who, conversation, call, answer);', '']],
    suite: OPERATORS,
    test: `${REFUND}the customer cannot approve it by any way, and a colleague does, with another amount`,
  },
  {
    defence: 'Authority: the owner is no separate approver, whatever the roles are',
    file: 'protocol/responder.ts',
    edits: [
      ['        await deps.stateStore.audit.record(act, { sessionId: record.sessionId });\n', ''],
    ],
    suite: 'test/api/operator-timeline.test.ts',
    test: 'each read of a step is recorded, and the timeline once in an hour',
  },
  {
    defence: 'Timeline: what later turns wrote is no part of a run',
    file: 'api/read-timeline.ts',
    edits: [['entries.filter(({ sequence }) => sequence <= end)', 'entries']],
    suite: 'test/api/read-timeline.test.ts',
    test: 'readTimeline a run whose log was trimmed has nothing of the turns after it',
  },
  {
    defence: 'Authority: no session of another tenant is opened',
    file: 'api/operator-access.ts',
    edits: [
      ['record === undefined || !isOfTenant(record, caller.tenantId)', 'record === undefined'],
    ],
    suite: MATRIX,
    test: 'getRun as "viewer" in another tenant, and in none, the session does not exist',
  },
  {
    defence: 'Authority: acts need a role of their own',
    file: 'api/operator-access.ts',
    edits: [["if (action !== 'read') await requireAllowed(deps, caller, action, record);", '']],
    suite: MATRIX,
    test: 'stopRun as "viewer" a colleague is served by role',
  },
  {
    defence: 'Authority: a list needs a role',
    file: 'api/routes/operator-waiting.ts',
    edits: [["      await requireAllowed(deps, caller, 'read');\n", '']],
    suite: MATRIX,
    test: 'listTenantWaiting as "" a colleague is served by role',
  },
  {
    defence: 'Authority: a filter of runs ends where its parentheses end',
    file: 'executor/run-list.ts',
    edits: [
      [
        "if (depth === 0 && quoted === '' && !AMBIGUOUS.test(query)) return query;",
        'return query;',
      ],
    ],
    suite: 'test/executor/run-list.test.ts',
    test: "the query for the runs of a tenant a = 1) OR (AgentTenant = 'b' is refused",
  },
  {
    defence: 'Authority: a question that the viewer may not decide is not asked in the stream',
    file: 'ai-sdk/turns/turn-progress.ts',
    edits: [
      ['if (!(await viewer.mayDecide(question))) this.#withheld.add(question.toolCallId);', ''],
    ],
    suite: OPERATORS,
    test: `${REFUND}the customer cannot approve it by any way, and a colleague does, with another amount`,
  },
  {
    defence: 'Authority: nor in the snapshot',
    file: 'ai-sdk/parts/tool-part.ts',
    edits: [[' || open.mayDecide === false) return', ') return']],
    suite: OPERATORS,
    test: `${REFUND}the customer cannot approve it by any way, and a colleague does, with another amount`,
  },
  {
    defence: 'Inbox: a question is on the list of its tenant as well',
    file: 'stores/redis/waiting-index.ts',
    edits: [
      [
        '      callRedis(redis.zadd(keys.tenantWaitingOf(key), ...options, now(), sessionId)),\n',
        '',
      ],
    ],
    test: 'sessions that wait for people the list of a tenant has the sessions of all its owners, and of no other tenant',
  },
];

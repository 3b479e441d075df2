// The defences of who decides; see mutations.mjs.

const OPERATORS = 'test/e2e/operators.test.ts';
const REFUND = 'a refund that a colleague has to approve ';
const FORKS = 'test/api/operator-fork.test.ts';
const MATRIX = 'test/api/operator-access.test.ts';
const WITHHELD = 'test/api/withheld-questions.test.ts';

export const authority = [
  {
    defence: 'Authority: what a tool demands of its approver is checked for each answer',
    file: 'executor/answers.ts',
    edits: [['await demands.require(who, conversation, call, answer);', '']],
    suite: OPERATORS,
    test: `${REFUND}the customer cannot approve it by any way, and a colleague does, with another amount`,
  },
  {
    defence: 'Authority: a colleague who retries or forks a run is no separate approver of it',
    file: 'protocol/responder.ts',
    edits: [
      [
        'return name === owner || name === runBy?.toWellFormed();',
        'void runBy;\n  return name === owner;',
      ],
    ],
    suite: 'test/executor/guarded-answers.test.ts',
    test: 'a colleague who begins the run again has asked, and may only withdraw it',
  },
  {
    defence: 'Authority: the owner is no separate approver, whatever the roles are',
    file: 'protocol/responder.ts',
    edits: [
      [
        'return separate !== true || !hasAsked(responder, conversation) || responder.isEveryone === true;',
        'return true;',
      ],
    ],
    suite: OPERATORS,
    test: `${REFUND}a lead cannot approve a request of their own`,
  },
  {
    defence: 'Authority: an answer that was not checked is refused by the transition',
    file: 'stores/transitions/settle-call.ts',
    edits: [["    if (guard === '1') return only('not_allowed');\n", '']],
    test: 'settle call, an approval a call that demands an approver takes an answer only with the mark of a permission',
  },
  {
    defence: 'Authority: only a call that was read as waiting is marked as permitted',
    file: 'stores/record/submit-answer.ts',
    edits: [['permitted: isPermitted', 'permitted: true']],
    suite: 'test/executor/guarded-answers.test.ts',
    test: 'an answer that overtakes the question is not taken without a check: undefined',
  },
  {
    defence: 'Authority: no answer is stored that was not checked',
    file: 'stores/transitions/settle-call.ts',
    edits: [["    if (!isLate) return only('not_pending');\n", '']],
    test: 'settle call, an approval no answer is taken that was not checked while the call waited',
  },
  {
    defence: 'Authority: an answer that comes too late is checked as well',
    file: 'stores/record/submit-answer.ts',
    edits: [['isWaiting || isLate(call, answer)', 'isWaiting']],
    suite: 'test/executor/guarded-answers.test.ts',
    test: "an answer that comes after the timeout passes the host's rule as well",
  },
  {
    defence: 'Authority: a function of a tool that hangs holds up no one',
    file: 'agents/approvers.ts',
    edits: [
      [
        'await verdictInTime(tool.approvers(responder, request))',
        'await tool.approvers(responder, request)',
      ],
    ],
    suite: 'test/agents/approvers.test.ts',
    test: 'the check of an approver a function that does not decide is not waited for',
  },
  {
    defence: 'Authority: nor does the rule of the host',
    file: 'ai-sdk/reply/authority.ts',
    edits: [['await verdictInTime(isAllowed)', 'await isAllowed']],
    suite: 'test/ai-sdk/reply/authority.test.ts',
    test: 'nor does a conversation that is shown',
  },
  {
    defence: 'Authority: a list holds no run whose record is of another tenant',
    file: 'api/operator-run.ts',
    edits: [
      ['  if (conversation !== undefined && !isOfTenant(conversation, tenantId)) return [];\n', ''],
    ],
    suite: 'test/api/operator-run.test.ts',
    test: 'a run whose record is of another tenant is not shown',
  },
  {
    defence: 'Authority: nor one that a tenant started without search attributes',
    file: 'executor/run-list.ts',
    edits: [["  if (tenant === undefined && workflowId.includes('~')) return [];\n", '']],
    suite: 'test/executor/run-list.test.ts',
    test: 'a run that is listed without a tenant is not one of a tenant by its id',
  },
  {
    defence: 'Authority: who reads what a step wrote is recorded',
    file: 'api/routes/operator-timeline.ts',
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
  {
    defence: 'Authority: an operator acts on no tenant that the identity does not name',
    file: 'api/chosen-tenant.ts',
    edits: [['!(tenants.includes(ALL) || tenants.includes(tenantId))', 'false']],
    suite: 'test/api/chosen-tenant.test.ts',
    test: 'the tenant on which an operator acts it is one of those that the identity names, under a name that no user of it has',
  },
  {
    defence: 'Authority: an operator of another tenant has no name of this one',
    file: 'api/chosen-tenant.ts',
    edits: [['return { ...identity, tenantId, userId };', 'return { ...identity, tenantId };']],
    suite: 'test/api/chosen-tenant.test.ts',
    test: 'the tenant on which an operator acts it is one of those that the identity names, under a name that no user of it has',
  },
  {
    defence: 'Operators: no user has the name of an operator of another tenant',
    file: 'api/visitor-name.ts',
    edits: [['return `${PREFIX}${', 'return `${']],
    suite: 'test/api/chosen-tenant.test.ts',
    test: 'an operator of another tenant beside a user called <tenant>|<user> owns nothing of that user: a read is recorded',
  },
  {
    defence: 'Forks: no copy begins before a step whose calls have no results yet',
    file: 'executor/fork-rows.ts',
    edits: [['if (withoutOpenCalls(upTo).length < upTo.length)', 'if (upTo.length < 0)']],
    suite: FORKS,
    test: 'a step whose approval call has no result yet is refused: the copy would make its calls again',
  },
  {
    defence: 'Forks: a copy that may not run is erased',
    file: 'executor/forks.ts',
    edits: [['await deleteSession(sessionId, actor)', 'await Promise.resolve()']],
    suite: FORKS,
    test: 'a fork that may not run leaves no copy, and is repeated under the same id',
  },
  {
    defence: 'Authority: a refusal names the role that would do',
    file: 'ai-sdk/reply/authority.ts',
    edits: [['  if (role !== undefined) throw needsRole([role]);\n', '']],
    suite: 'test/api/operator-access.test.ts',
    test: 'createSchedule as "viewer" a colleague is served by role',
  },
  {
    defence: 'Authority: no role is named where a host has a rule of its own',
    file: 'ai-sdk/reply/authority.ts',
    edits: [['  if (!isPermitted && authorize !== authorizeByRole) return {};\n', '']],
    suite: WITHHELD,
    test: 'where a host has a rule of its own no role is named',
  },
  {
    defence: 'Authority: the one who began a run again learns that it may be withdrawn',
    file: 'ai-sdk/reply/authority.ts',
    edits: [['    ...(mayWithdraw && { mayWithdraw }),\n', '']],
    suite: WITHHELD,
    test: 'the one who began the run reads what would help: bob, operator, {"separate":true}',
  },
  {
    defence: 'Authority: no role is named to the one who may not approve whatever the roles',
    file: 'executor/approver-demands.ts',
    edits: [
      [
        'const missing = lackedRoles(call.approvers, responder, conversation);',
        'const missing = call.approvers.roles ?? [];',
      ],
    ],
    suite: 'test/executor/guarded-answers.test.ts',
    test: 'a program names the person who answers, with the roles that it has verified',
  },
  {
    defence: 'Erasure: no log has the reason that a person gave',
    file: 'api/routes/operator-runs.ts',
    edits: [
      [
        '...from, reason, ...toActor(call) });\n      noteRerun(deps, runId);',
        "...from, reason, ...toActor(call) });\n      noteRerun(deps, `${runId} ${reason ?? ''}`);",
      ],
    ],
    suite: OPERATORS,
    test: 'the runs of a tenant a viewer lists, counts and reads them, and an operator stops and repeats one',
  },
  {
    defence: 'Erasure: no log names the person who answered in Temporal',
    file: 'activities/answers.ts',
    edits: [
      ['toolCallId: parsed.toolCallId, via:', 'toolCallId: parsed.toolCallId, by: parsed.by, via:'],
    ],
    suite: 'test/e2e/erasure.test.ts',
    test: 'a conversation that is erased is erased in Redis and Temporal, sub-agents included; a receipt says what was erased',
  },
  {
    defence: 'Four eyes: who has asked is read from when the call had been made',
    file: 'stores/record/submit-answer.ts',
    edits: [['isOlder ? await sessions.read(sessionId) : read', 'read']],
    suite: 'test/executor/guarded-answers.test.ts',
    test: 'a record that was read before the run began again does not say who has asked',
  },
];

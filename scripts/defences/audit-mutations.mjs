// The defences of the audit trail; see mutations.mjs.
const TAMPERED = 'test/stores/redis/audit.test.ts';

export const audit = [
  {
    defence: 'Audit: each tenant’s trail is kept as long as its setting says',
    file: 'config/audit-ttl.ts',
    edits: [['AUDIT_TTL_TENANTS?.get(tenant) ?? AUDIT_TTL', 'AUDIT_TTL']],
    suite: 'test/config/env.test.ts',
    test: 'parseEnv the audit trail of a tenant is kept as long as its setting says, others as all',
  },
  {
    defence: 'Audit: a setting that is no length of time drops nothing',
    file: 'stores/record/audit-ttl.ts',
    edits: [['Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0', 'seconds * 1000']],
    suite: 'test/stores/record/audit-ttl.test.ts',
    test: 'a setting that is no length of time keeps the audit trail, by tenant too',
  },
  {
    defence: 'Audit: entries of a tenant that keeps them are not dropped',
    file: 'stores/redis/audit.ts',
    edits: [['context.audit.keptMs(tenant)', "context.audit.keptMs('')"]],
    suite: 'test/stores/redis/audit.test.ts',
    test: 'the relay old entries are dropped once they are older than they are kept, and the rest verifies',
  },
  {
    defence: 'Audit: what stands behind the newest entry is found',
    file: 'stores/redis/audit.ts',
    edits: [['check.fault(head) ?? (await findStray(tenant))', 'check.fault(head)']],
    suite: TAMPERED,
    test: 'a chain of audit entries that was changed in Redis what stands behind the newest entry is found, nothing is added to it, and all acts are kept',
  },
  {
    defence: 'Audit: nothing is appended behind an entry that no relay has written',
    file: 'stores/transitions/chain-audit.ts',
    edits: [["'COUNT', '1').length > 0", "'COUNT', '1').length > 1"]],
    suite: TAMPERED,
    test: 'a chain of audit entries that was changed in Redis what stands behind the newest entry is found, nothing is added to it, and all acts are kept',
  },
  {
    defence: 'Audit: the words about something unexpected blame no entry that is as it was',
    file: 'protocol/audit-fault.ts',
    edits: [["if (reason !== 'unexpected') return", 'return']],
    suite: 'test/protocol/audit-fault.test.ts',
    test: 'the words about something unexpected name the newest entry that was noted, not the one behind it',
  },
  {
    defence: 'Audit: the repair of the guide lets acts be appended again',
    file: 'docs/audit.md',
    edits: [["redis.call('RENAME', KEYS[3], KEYS[1])", "redis.call('DEL', KEYS[3])"]],
    suite: TAMPERED,
    test: 'a chain of audit entries that was changed in Redis what the guide says about a stray entry lets acts be appended again, also behind an id of a time',
  },
  {
    defence: 'Audit: the transition of an answer appends its entry',
    file: 'stores/transitions/settle-call.ts',
    edits: [["  noteAct(session, args, request.act, 'stored');\n", '']],
    test: 'audit trail an act leaves one entry, which the relay moves to the chain of the tenant',
  },
  {
    defence: 'Audit: the transition of a stop appends its entry',
    file: 'stores/transitions/stop.ts',
    edits: [
      [
        "  noteAct(session, args, act, request.isSpeaking ? 'stopping' : 'ended', { tenant, runId: run });\n",
        '',
      ],
    ],
    test: 'audit trail every act of people and rules leaves its entry, other transitions leave none',
  },
  {
    defence: 'Audit: an entry that the chain has is not chained again',
    file: 'stores/transitions/chain-audit.ts',
    edits: [["if (redis.call('ZSCORE', seen, id) !== false) known.push(id);", '']],
    test: 'audit trail many relays at once chain each entry once, without gaps',
  },
  {
    defence: 'Audit: an entry follows the head that its hash was made on',
    file: 'stores/transitions/chain-audit.ts',
    edits: [['n !== number || hash !== expected || known.length > 0', 'known.length > 0']],
    test: 'audit trail many relays at once chain each entry once, without gaps',
  },
  {
    defence: 'Audit: an edited entry does not verify',
    file: 'stores/record/audit-chain.ts',
    edits: [["    if (hash !== hashOf(last.hash, n, text)) return 'changed';\n", '']],
    suite: TAMPERED,
    test: 'a chain of audit entries that was changed in Redis an edited entry is found',
  },
  {
    defence: 'Audit: a chain that was written again lacks the signatures',
    file: 'stores/record/audit-chain.ts',
    edits: [
      [
        "    if (!keys.some((key) => isSame(mac, sign(key, tenant, n, hash)))) return 'signature';\n",
        '',
      ],
    ],
    suite: TAMPERED,
    test: 'a chain of audit entries that was changed in Redis a chain that was written again from an edited entry on lacks the signatures',
  },
  {
    defence: 'Audit: with the key of a pseudonym its name is gone',
    file: 'stores/redis/audit-people.ts',
    edits: [
      ['is interrupted.\n      await callRedis(redis.hdel(names, pseudonym));', 'is interrupted.'],
      [
        'written it again.\n      await callRedis(redis.hdel(names, pseudonym));',
        'written it again.',
      ],
    ],
    suite: TAMPERED,
    test: 'the relay nothing of a person is in the trail but the pseudonym, and its key only once',
  },
  {
    defence: 'Audit: a name that an act wrote while its person was forgotten is removed',
    file: 'stores/redis/audit-people.ts',
    edits: [
      [
        '        await callRedis(redis.hdel(names, pseudonym));\n      }\n',
        '        return pseudonym;\n      }\n',
      ],
    ],
    suite: 'test/stores/redis/audit-people.test.ts',
    test: 'a person who acts while being forgotten leaves no name without its key, in any order',
  },
  {
    defence: 'Audit: a late answer that is repeated leaves one entry',
    file: 'stores/transitions/settle-call.ts',
    edits: [["if (lapsed === 'late' && call.lapsed !== 'told')", "if (lapsed === 'late')"]],
    test: 'audit trail a late answer leaves one entry, however often it is repeated',
  },
  {
    defence: 'Audit: an export waits for its reader',
    file: 'api/routes/audit.ts',
    edits: [
      [
        'await pipeline(Readable.from(lines), response).catch(() => response.destroy());',
        'for await (const line of lines) response.write(line);\n      response.end();',
      ],
    ],
    suite: 'test/api/audit-export.test.ts',
    test: 'an export reads no further than its client takes it',
  },
  {
    defence: 'Usage: what the active run has used outlives its conversation',
    file: 'stores/redis/charged.ts',
    edits: [
      ['const isCut = below !== undefined && !hasEnded;', 'const isCut = below?.length === -1;'],
    ],
    test: 'usage erasing a conversation keeps what its active run has used so far',
  },
  {
    defence: 'Usage: and what its active sub-agents have used',
    file: 'stores/redis/charged.ts',
    edits: [['below?.reduce(sumOf, root.usage ?? NOTHING) ?? NOTHING', 'root.usage ?? NOTHING']],
    test: 'usage erasing a conversation keeps what its active run has used so far',
  },
  {
    defence: 'Audit: the sweep relays what a dead process left',
    file: 'executor/sweep.ts',
    edits: [['logEntries(logger, await audit.relay(sessionId));', '']],
    suite: 'test/e2e/audit.test.ts',
    test: 'the audit trail an act whose process and relay are killed is in the trail once',
  },
  {
    defence: 'Audit: an answer over the agent server names its way',
    file: 'api/routes/agent.ts',
    edits: [['caller, toActor(call), { record }', 'caller, {}, { record }']],
    suite: 'test/e2e/audit.test.ts',
    test: 'the audit trail the same approval leaves the same entry whichever way it comes, but for the way',
  },
  {
    defence: 'Erasure: a worker completes what a dead API left',
    file: 'executor/sweep.ts',
    edits: [['      if (!(await runs.finishErasures(sessionId))) return SOON;\n', '']],
    suite: 'test/e2e/erasure.test.ts',
    test: 'a conversation that is erased is erased to the end by a worker if the API is killed in between',
  },
  {
    defence: 'Erasure: what is left to do is noted with it',
    file: 'stores/transitions/erase.ts',
    edits: [["  redis.call('RPUSH', `${session.conversation.base}gone`, noted);\n", '']],
    test: 'erase an erasure by a person is noted with its runs until it is done',
  },
  {
    defence: 'Erasure: what is left of one does not touch the next session of that id',
    file: 'stores/transitions/erase.ts',
    edits: [["!leftovers && redis.call('EXISTS'", "redis.call('EXISTS'"]],
    test: 'erase an erasure by a person is noted with its runs until it is done',
  },
  {
    defence: 'Audit: a colleague’s read of a conversation is recorded',
    file: 'api/routes/operator-sessions.ts',
    edits: [
      [
        '      if (record.owner !== caller.userId) {\n',
        '      if (record.owner === caller.userId) {\n',
      ],
    ],
    suite: 'test/e2e/people.test.ts',
    test: 'a person a person is exported and erased by an operator of the tenant; others stay as they were',
  },
  {
    defence: 'Erasure: the receipt is in the chain of the tenant',
    file: 'executor/erase.ts',
    edits: [['{ tenant, detail: counts }', '{ detail: counts }']],
    suite: 'test/e2e/people.test.ts',
    test: 'a person a person is exported and erased by an operator of the tenant; others stay as they were',
  },
  {
    defence: 'Erasure: that of a person waits for what an earlier request left',
    file: 'api/people.ts',
    edits: [['complete &&= isFinished ?? true;', '']],
    suite: 'test/api/person-erasure.test.ts',
    test: 'is not complete while histories of an earlier request are left',
  },
  {
    defence: 'Erasure: what is left is known by its person',
    file: 'stores/redis/erasures.ts',
    edits: [['await callRedis(redis.zadd(list, now(), sessionId));', '']],
    suite: 'test/api/person-erasure.test.ts',
    test: 'is not complete while histories of an earlier request are left',
  },
  {
    defence: 'Erasure: the calls of the last minute are known by their ids',
    file: 'stores/redis/erasures.ts',
    edits: [['? [[runId, part.toolCallId]] : []', '? [] : []']],
    suite: 'test/api/person-erasure.test.ts',
    test: 'names the calls whose work Temporal may not list yet',
  },
  {
    defence: 'Erasure: the work of calls is deleted by their ids',
    file: 'executor/erase-workflows.ts',
    edits: [['of pagesOf(calls)', 'of pagesOf(calls.slice(0, 0))']],
    suite: 'test/executor/erase-workflows.test.ts',
    test: 'the work of calls is deleted though Temporal does not list it yet',
  },
  {
    defence: 'Exports: they count among the requests of a minute',
    file: 'api/routes/route.ts',
    edits: [["(method !== 'get' || sendsLines(replies))", "method !== 'get'"]],
    suite: 'test/api/person-export.test.ts',
    test: 'an export counts among the requests of a minute, and is recorded only if it is answered',
  },
  {
    defence: 'Requests: the claim of a key lasts as long as its request is carried out',
    file: 'api/routes/once.ts',
    edits: [['requests.renew(name, claimedMs)', 'Promise.resolve()']],
    suite: 'test/api/once.test.ts',
    test: 'a request that takes longer than its claim is not carried out a second time beside it',
  },
];

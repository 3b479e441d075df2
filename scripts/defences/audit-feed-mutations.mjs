// The defences of audit entries that go out to receivers; see mutations.mjs.
const PASSED_ON = 'test/executor/pass-on-audit.test.ts';

export const auditFeed = [
  {
    defence: 'Audit: an entry is noted for its receivers before it is in the chain',
    file: 'stores/redis/audit.ts',
    edits: [['    await feeds.note(tenant, n);\n', '']],
    test: 'audit feed entries are passed on from where a fleet follows, until they are noted as passed on',
  },
  {
    defence: 'Audit: entries count as passed on only once their deliveries were begun',
    file: 'executor/pass-on-audit.ts',
    edits: [
      [
        '    await inLanes(entries, MOST',
        '    await feed.passed(tenant, upTo);\n    await inLanes(entries, MOST',
      ],
    ],
    suite: PASSED_ON,
    test: 'what was begun before a crash is begun again under the same ids, and nothing is left out',
  },
  {
    defence: 'Audit: a delivery of an entry has an id that is made of the entry',
    file: 'executor/pass-on-audit.ts',
    edits: [["['audit.entry', tenant, entry.id]", "['audit.entry', tenant, Math.random()]"]],
    suite: PASSED_ON,
    test: 'what was begun before a crash is begun again under the same ids, and nothing is left out',
  },
  {
    defence: 'Audit: an entry that cannot be read holds up none behind it',
    file: 'stores/redis/audit-feed.ts',
    edits: [['    return [];\n  }', "    throw new Error('unreadable');\n  }"]],
    suite: PASSED_ON,
    test: 'an entry that was changed in Redis holds up none behind it',
  },
  {
    defence: 'Audit: an entry that is JSON but no entry holds up none behind it',
    file: 'stores/redis/audit-feed.ts',
    edits: [['return isWhole && Array.isArray(roles) ?', 'return entry !== undefined ?']],
    suite: PASSED_ON,
    test: 'an entry that was changed in Redis holds up none behind it',
  },
  {
    defence: 'Audit: a fleet passes on so many entries at a time, whosever they are',
    file: 'executor/pass-on-audit.ts',
    edits: [['      budget.entries -= 1;\n', '']],
    suite: PASSED_ON,
    test: 'a fleet passes on ten entries in a look, whosever they are, and each tenant has its turn',
  },
  {
    defence: 'Audit: no delivery is begun behind one that its receiver has yet to take',
    file: 'executor/pass-on-audit.ts',
    edits: [['last !== undefined && (await', 'last === undefined && (await']],
    suite: PASSED_ON,
    test: 'nothing is begun while a receiver has yet to take what it was sent last',
  },
  {
    defence: 'Audit: a delivery that was not taken is under way',
    file: 'executor/deliveries.ts',
    edits: [["toState(each).status === 'running'", "toState(each).status === 'delivered'"]],
    suite: 'test/executor/deliveries.test.ts',
    test: 'a notice is under way while one of its receivers has yet to take it',
  },
  {
    defence: 'Audit: an entry that no receiver took is no notice to the others',
    file: 'worker/notices/announce-failure.ts',
    edits: [["if (type !== 'audit.entry') await", 'await']],
    suite: 'test/worker/notices/announce-failure.test.ts',
    test: 'others are notified of a delivery that failed, but not of each entry of the audit trail',
  },
  {
    defence: 'Audit: entries are appended while the feed is away',
    file: 'stores/redis/audit-feed.ts',
    edits: [['    } catch {\n      return;\n    }', '    } finally {\n    }']],
    suite: PASSED_ON,
    test: 'entries are appended while the feed is away, and are passed on later',
  },
  {
    defence: 'Audit: a tenant that could not be listed is listed with the next one',
    file: 'stores/redis/audit-feed.ts',
    edits: [['const tenants = [...unlisted]', 'const tenants = [tenant]']],
    suite: PASSED_ON,
    test: 'entries are appended while the feed is away, and are passed on later',
  },
  {
    defence: 'Audit: how far entries were passed on is only raised',
    file: 'stores/transitions/pass-audit.ts',
    edits: [['before === false || toNumber(before) >= toNumber(number)', 'before === false']],
    test: 'audit feed a process that is behind sets nothing back',
  },
  {
    defence: 'Audit: a tenant is listed only while it has entries to pass on',
    file: 'stores/redis/audit-feed.ts',
    edits: [["list === 'due' ? now() + REST_MS : undefined", 'now() + REST_MS']],
    suite: PASSED_ON,
    test: 'a tenant with nothing left is looked at once more, and then not before its next entry',
  },
  {
    defence: 'Audit: a tenant that was noted meanwhile does not wait for its next look',
    file: 'stores/transitions/put-due.ts',
    edits: [['!== taken) return 0;', "=== '') return 0;"]],
    test: 'audit feed a tenant is taken by one process, and listed as long as something is left',
  },
  {
    defence: 'Audit: without a receiver that asks for entries nothing is noted',
    file: 'executor/pass-on-audit.ts',
    edits: [['  if (receivers.length === 0) return undefined;\n', '']],
    suite: PASSED_ON,
    test: 'nothing is noted for a fleet in which no receiver asks for entries',
  },
  {
    defence: 'Audit: a webhook that does not ask for entries gets none',
    file: 'notify/receivers.ts',
    edits: [["  if (type === 'audit.entry') return false;\n", '']],
    suite: 'test/notify/receivers.test.ts',
    test: 'receivers entries of the audit trail go only to a receiver that asks for them',
  },
];

// Defences of what one user or tenant may have; see mutations.mjs.
const OWNER = 'stores/transitions/lib/owner.ts';
const QUOTAS = 'test/executor/quotas.test.ts';

export const quotas = [
  {
    defence: 'Quotas: what is beyond a limit is refused',
    file: 'stores/transitions/reserve.ts',
    edits: [['  if (refusal !== undefined) return refusal;\n', '']],
    test: 'reserve a reservation beyond a limit of the user is refused with that limit',
  },
  {
    defence: 'Quotas: a tenant has limits of its own',
    file: 'stores/transitions/reserve.ts',
    edits: [[" ??\n    refusalOf('tenant', owner.tenant, needed, request.tenant)", '']],
    test: 'reserve a reservation beyond a limit of the tenant is refused for all its users',
  },
  {
    defence: 'Quotas: what is reserved counts at once',
    file: 'stores/transitions/reserve.ts',
    edits: [['heldRuns: Math.max(entry.heldRuns, needed.runs),', 'heldRuns: 0,']],
    test: 'reserve concurrent reservations succeed up to the limit and no further',
  },
  {
    defence: 'Quotas: a reservation lapses',
    file: 'stores/transitions/reserve.ts',
    edits: [['  clearExpired(owner, now);\n', '']],
    test: 'reserve an unused reservation expires without a trace',
  },
  {
    defence: 'Quotas: nothing stays behind of a reservation that lapsed',
    file: OWNER,
    edits: [['if (entry.created === 0) {', 'if (false) {']],
    test: 'reserve an unused reservation expires without a trace',
  },
  {
    defence: 'Quotas: a fold says how things stand, not what has changed',
    file: OWNER,
    edits: [
      [
        '  addUp(owner, countsOf(before), countsOf(after));',
        '  addUp(owner, countsOf(undefined), countsOf(after));',
      ],
    ],
    test: 'what an owner has repeated and concurrent folds count a session once',
  },
  {
    defence: 'Quotas: a run that waits for people is not active',
    file: 'stores/redis/charged.ts',
    edits: [["stream !== 'paused' && ", '']],
    test: 'what an owner has a run counts as active except while people are asked',
  },
  {
    defence: 'Quotas: a run that has ended does not count',
    file: 'stores/redis/owners.ts',
    edits: [['      await refreshWork(input);\n', '']],
    test: 'reserve ended runs that still count are found before a run is refused',
  },
  {
    defence: 'Quotas: what is streamed counts',
    file: 'stores/transitions/lib/log.ts',
    edits: [['  log.bytes += byteLength(json);\n', '']],
    test: 'what an owner has bytes grow with stored messages, results and entries, and shrink when these are removed',
  },
  {
    defence: 'Quotas: copies count',
    file: 'executor/quotas.ts',
    edits: [['bytes: sizeOf(input.rows),', 'bytes: 0,']],
    suite: QUOTAS,
    test: 'what a user may have a user may store a number of bytes, copies included',
  },
  {
    defence: 'Quotas: what was accepted before is not held up',
    file: 'executor/quotas.ts',
    edits: [
      [
        '      // Messages that were accepted before add nothing.\n      if (await isKnown()) return change();\n',
        '',
      ],
    ],
    suite: QUOTAS,
    test: 'what a user may have a quota does not refuse a message that was accepted before',
  },
  {
    defence: 'Quotas: the sweeper gives back what a dead process did not',
    file: 'executor/sweep.ts',
    edits: [["if (found.kind !== 'active') await", "if (found.kind === 'idle') await"]],
    suite: QUOTAS,
    test: 'what was not charged when a run ended, since its process died the sweep that finds a conversation waiting for people frees the slot of its run',
  },
  {
    defence: 'Lists: an erased conversation is listed no more',
    file: 'stores/redis/session-store.ts',
    edits: [['      if (owner !== undefined) await owners.fold(sessionId, owner);\n', '']],
    test: 'conversations of an owner an erased conversation is neither listed nor counted',
  },
  {
    defence: 'Quotas: a program that names no users has none by default',
    file: 'executor/quotas.ts',
    edits: [['owner === ANONYMOUS && tenant === undefined ? undefined : usual', 'usual']],
    suite: 'test/executor/quotas-of.test.ts',
    test: 'a user who is named has the usual quotas, a program that names none has no limit',
  },
  {
    defence: 'Owners: a run has the owner that its conversation has now',
    file: 'activities/run-agent.ts',
    edits: [
      ['known.get(runId);', 'known.get(sessionId);'],
      ['known.set(runId, stored);', 'known.set(sessionId, stored);'],
    ],
    suite: 'test/activities/agent-scope.test.ts',
    test: 'the user is the one of this run, also where another one had a session of this id before',
  },
  {
    defence: 'Budgets: no run begins beyond one',
    file: 'executor/quotas.ts',
    edits: [["      if (input.purpose !== 'copy') await checkBudget(input);\n", '']],
    suite: 'test/executor/budgets.test.ts',
    test: 'budgets no run begins once the budget of a user, day is spent',
  },
  {
    defence: 'Budgets: agents that none counts are named',
    file: 'executor/unpriced-agents.ts',
    edits: [['if (unpriced.length === 0) return;', 'if (unpriced.length > 0) return;']],
    suite: 'test/executor/budgets.test.ts',
    test: 'budgets agents without prices are named once, since no budget counts what they cost',
  },
  {
    defence: 'Usage: a session counts what it has used once',
    file: 'stores/transitions/lib/used.ts',
    edits: [['num(n) - num(counted[more.length])', 'num(n)']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'usage what a later run uses is added to what is counted',
  },
  {
    defence: 'Usage: an erased conversation has been counted',
    file: 'stores/redis/owners.ts',
    edits: [
      [
        '      if (found !== undefined) await charge(id, found.owner, found).catch(() => false);\n      return found?.owner;',
        '      return found?.owner;',
      ],
    ],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'usage erasing a conversation keeps what it has used',
  },
];

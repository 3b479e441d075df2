// Runs that continue others, and take-over between writers; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

const refused = 'resume run a run that ended for good, and one that is not the newest, are refused';
const notAsked = 'extend deadline a call that does not wait with a deadline is refused';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const resumes = [
  {
    defence: 'Resume: done once for one nonce',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [['if (isRunOf(root.run, nonce))', 'if (false)']],
    test: 'resume run a repeated request returns the same run',
  },
  {
    defence: 'Resume: not while a run is active or waits',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [['if (!isTerminal(root.status))', 'if (false)']],
    test: 'resume run an active or waiting run is left alone',
  },
  {
    defence: 'Resume: the newest run only',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [['if (runId !== undefined && runId !== root.run)', 'if (false)']],
    test: refused,
  },
  {
    defence: 'Resume: nothing that ended for good',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [
      ["if (root.status !== 'interrupted' && !mayPass(root.status, root.error)) {", 'if (false) {'],
    ],
    test: refused,
  },
  {
    defence: 'Resume: behind a reply that was folded from the log',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [['Math.max(committed, head.step ?? 0)', 'committed']],
    test: 'resume run the new run continues after a reply that was rebuilt from the log',
  },
  {
    defence: 'Resume: what nothing came of is not shown twice',
    file: `${TRANSITIONS}/resume-run.ts`,
    edits: [['if (claimed > step) {', 'if (false) {']],
    test: 'resume run an unfinished step is withdrawn and repeated',
  },
  {
    defence: 'A run that was followed by another has no voice',
    file: `${TRANSITIONS}/append.ts`,
    edits: [["if (run !== '*' && (session[0] !== run", 'if (false && (session[0] !== run']],
    test: 'resume run writers of the previous run are fenced off',
  },
  {
    defence: 'Take-over: of the newest active run only',
    file: `${TRANSITIONS}/take-over.ts`,
    edits: without(
      "  if (root.run !== runId || isTerminal(root.status)) return only('superseded');\n",
    ),
    test: 'take over nothing is taken over without a writer, and other runs are left alone',
  },
  {
    defence: 'Take-over: no writer is fenced off where none writes',
    file: `${TRANSITIONS}/take-over.ts`,
    edits: [
      ["  if (owner === false) return only('nothing');\n", ''],
      ['num(owner) + 1', "num(owner === false ? '0' : owner) + 1"],
    ],
    test: 'take over nothing is taken over without a writer, and other runs are left alone',
  },
  {
    defence: 'Extension: not of an answered call',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: [
      ...without(
        "  if (call.state === 'settled' || wasTakenIn(session, id)) return only('already_completed');\n",
      ),
      ...without("  if (call.state !== 'waiting') return only('already_completed');\n"),
    ],
    test: notAsked,
  },
  {
    defence: 'Extension: not of a call that timed out',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without(
      "  if (call.late === '1' || call.lapsed !== undefined) return only('expired');\n",
    ),
    test: notAsked,
  },
  {
    defence: 'Extension: of calls that people answer only',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without(
      "  if (call.kind !== 'approval' && call.kind !== 'client') return only('not_pending');\n",
    ),
    test: notAsked,
  },
  {
    defence: 'Extension: of the newest run only',
    file: `${TRANSITIONS}/extend-deadline.ts`,
    edits: without(
      "  if (root.run !== runId || isTerminal(root.status)) return only('stale_run');\n",
    ),
    test: notAsked,
  },
  {
    defence: 'Queue: what is kept for it goes when it is emptied',
    file: `${TRANSITIONS}/remove-queued.ts`,
    edits: [['if (isTerminal(root.status) && ', 'if (false && ']],
    suite: 'test/stores/redis/expiry.test.ts',
    test: 'the keys of a session the keys of a session are kept for queued messages, and expire when these are removed',
  },
  {
    defence: 'Sub-agents: made once',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: without(
      "  if (own.run === runId) return only(own.limit === undefined ? 'begun' : 'limit');\n",
    ),
    test: 'a sub-agent a sub-agent is created once, from the call that it carries out',
  },
  {
    defence: 'Sub-agents: found by the calls that they carry out',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: without(
      "  redis.call('HSET', child.owners, carrierField(parent, toolCallId), child.part);\n",
    ),
    test: 'a sub-agent a sub-agent is found by the call that it carries out, also once that is settled',
  },
  {
    defence: 'Branch: made once for one nonce',
    file: `${TRANSITIONS}/branch.ts`,
    edits: [["root.born === nonce && root.mode === 'branch' ? 'branched' : 'exists'", "'exists'"]],
    test: 'branch a copy is made once and never replaces an existing session',
  },
  {
    defence: 'Branch: ids of copied calls stay used',
    file: `${TRANSITIONS}/branch.ts`,
    edits: without("  if (settled.length > 0) redis.call('SADD', session.settled, ...settled);\n"),
    test: 'branch a copied session continues like any other',
  },
  {
    defence: 'Branch: a copied message is accepted once',
    file: `${TRANSITIONS}/branch.ts`,
    edits: without(
      "  if (accepted.length > 0) redis.call('HSET', session.messages, ...accepted);\n",
    ),
    test: 'branch a copied session continues like any other',
  },
];

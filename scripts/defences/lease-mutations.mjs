// Defences of leases: dead workers are noticed, living ones are not judged, and nothing is forgotten.
const VERDICT = 'test/worker/lease/verdict.test.ts';
const RENEWALS = 'test/worker/lease/renewals.test.ts';
const JUDGE = 'test/worker/lease/judge.test.ts';
const HOLDING = 'test/worker/lease/worker-lease.test.ts';
const ATTEMPT = 'test/activities/lease.test.ts';

const judging = [
  {
    defence: 'Leases: a judge looks again before it takes over',
    file: 'worker/lease/judge.ts',
    edits: [['if (leftMs > 0 && !isEnded) return;', '']],
    suite: JUDGE,
    test: 'the judge of leases does not judge a worker that has renewed while another one was taken over',
  },
  {
    defence: 'Leases: a look long ago does not say when a lease has lapsed',
    file: 'worker/lease/verdict.ts',
    edits: [['before !== undefined && now - before.at <= 2 * renewMs', 'before !== undefined']],
    suite: VERDICT,
    test: 'a lease that is renewed again counts as lapsed only since a look, if the one before was too long ago',
  },
  {
    defence: 'Leases: each dead worker counts once, and none that leaves',
    file: 'worker/lease/judge.ts',
    edits: [['const isNews = !isEnded && !isOver;', 'const isNews = true;']],
    suite: JUDGE,
    test: 'the judge of leases counts each dead worker once, however often it is judged, and none that leaves',
  },
  {
    defence: 'Leases: the main thread renews where another one cannot',
    file: 'worker/lease/start-renewing.ts',
    edits: [['if (!hasRenewed) fallBack();', 'if (!hasRenewed) return;']],
    suite: HOLDING,
    test: 'the main thread renews the lease if another thread cannot',
  },
  {
    defence: 'Leases: a worker whose own renewals fail judges no other',
    file: 'worker/lease/verdict.ts',
    edits: [["if (steadySince === undefined) return { takes: 'none' };", 'steadySince ??= 0;']],
    suite: VERDICT,
    test: 'a lease that lapsed in sight of a steady judge is not judged while the judge cannot renew its own',
  },
  {
    defence: 'Leases: the death of a worker is noted, also if nothing was registered',
    file: 'worker/lease/judge.ts',
    edits: [['      await leases.noteDeath();\n      if ((await', '      if ((await']],
    suite: JUDGE,
    test: 'the judge of leases notes that a worker has died, also if nothing was registered',
  },
  {
    defence: 'Leases: a signal does not wait for the worker that had cached the run and died',
    file: 'executor/run-workflows.ts',
    edits: [
      ['if (await died?.catch(() => false)) await resetStickyQueue(client, { workflowId });', ''],
    ],
    suite: 'test/e2e/cached-run.test.ts',
    test: 'an answer does not wait for the worker that had cached the run and was killed',
  },
  {
    defence: 'Leases: a judge whose own renewals had a gap waits longer',
    file: 'worker/lease/verdict.ts',
    edits: [
      [
        'const wasSeen = heldAt !== undefined && steadySince <= heldAt;',
        'const wasSeen = heldAt !== undefined;',
      ],
    ],
    suite: VERDICT,
    test: 'a lease that lapsed in sight of a steady judge a judge whose own renewals had a gap waits three seconds from its end',
  },
  {
    defence: 'Leases: a lease that a judge never saw held is judged late',
    file: 'worker/lease/verdict.ts',
    edits: [['const neededMs = wasSeen ? graceMs : unseenMs;', 'const neededMs = graceMs;']],
    suite: VERDICT,
    test: 'a lease that a judge never saw held is judged after it stayed lapsed for three seconds',
  },
  {
    defence: 'Leases: started calls that may not be repeated wait for ten seconds',
    file: 'worker/lease/verdict.ts',
    edits: [
      [
        "if (forMs >= patientMs) return { takes: 'all' };",
        "if (forMs >= graceMs) return { takes: 'all' };",
      ],
    ],
    suite: VERDICT,
    test: 'a lease that lapsed in sight of a steady judge is judged 300 ms after it lapsed, except for calls that may not be repeated',
  },
  {
    defence: 'Leases: two judges do not take over the same attempts',
    file: 'stores/redis/leases.ts',
    edits: [[", 'NX'))) !== 'OK'", "))) !== 'OK'"]],
    suite: JUDGE,
    test: 'the judge of leases two judges do not take over the same attempts',
  },
  {
    defence: 'Leases: what is registered under any lease counts as registered',
    file: 'stores/redis/leases.ts',
    edits: [['works.some((work) => work[n] != null)', 'works[0]?.[n] != null']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: "workers' leases what is registered is found under every lease, also under one that has lapsed",
  },
  {
    defence: 'Leases: an attempt stays registered until Temporal has answered',
    file: 'worker/lease/judge.ts',
    edits: [
      [
        '      await takeOver(work);\n      await leases.release(holder, work.id);\n',
        '      await leases.release(holder, work.id);\n      await takeOver(work);\n',
      ],
    ],
    suite: JUDGE,
    test: 'the judge of leases another judge follows one that dies in the middle',
  },
  {
    defence: 'Leases: each dead worker of a large fleet has a living one that watches it',
    file: 'worker/lease/judge.ts',
    edits: [
      [
        'const ring = after > 0 ? [...others.slice(after), ...others.slice(0, after)] : others;',
        'const ring = after > 99 ? [] : others;',
      ],
    ],
    suite: JUDGE,
    test: 'the judge of leases each dead worker of a large fleet has a living one that watches it',
  },
];

const holding = [
  {
    defence: 'Leases: a main thread that stands still does not renew',
    file: 'worker/lease/renewals.ts',
    edits: [['still * times.renewMs < UNWELL_MS && ', '']],
    suite: RENEWALS,
    test: 'renewals of a lease end while the main thread stands still for five seconds, and then the process',
  },
  {
    defence: 'Leases: a starved process that still loads its packages is not ended as hung',
    file: 'worker/lease/renewals.ts',
    edits: [[' && pulse.isRunning()', '']],
    suite: RENEWALS,
    test: 'renewals of a lease a starved process that still loads its packages is not hung',
  },
  {
    defence: 'Leases: a worker that cannot write does not renew',
    file: 'worker/lease/renewals.ts',
    edits: [[' && pulse.unansweredMs() < UNWELL_MS', '']],
    suite: RENEWALS,
    test: 'renewals of a lease end while a write of the main thread waits for five seconds',
  },
  {
    defence: 'Leases: a slow answer of Redis counts as a gap',
    file: 'worker/lease/renewals.ts',
    edits: [['sentAt === undefined || now() - sentAt >= times.leaseMs', 'sentAt === undefined']],
    suite: RENEWALS,
    test: 'renewals of a lease a slow answer is a gap as well',
  },
  {
    defence: 'Leases: a worker that was judged while it lives continues under another name',
    file: 'worker/lease/renewals.ts',
    edits: [['    if (isOver) {', '    if (isOver && generation > 9) {']],
    suite: RENEWALS,
    test: 'renewals of a lease a worker that was judged while it lives continues under another name at once',
  },
  {
    defence: 'Leases: a worker that was judged registers what was not taken over again',
    file: 'worker/lease/worker-lease.ts',
    edits: [['      entry.holder = next;\n      await register(entry);\n', '']],
    suite: HOLDING,
    test: 'a worker that was judged keeps what was not taken, and lets go of the rest',
  },
  {
    defence: 'Leases: what a process saw while it started counts, if no gap followed',
    file: 'worker/lease/sequence.ts',
    edits: [['steadySince === first ? since : steadySince', 'steadySince']],
    suite: 'test/worker/lease/sequence.test.ts',
    test: 'a source that follows another one without a gap has renewed since the first did',
  },
  {
    defence: 'Leases: a gap after the first renewal counts',
    file: 'worker/lease/sequence.ts',
    edits: [['newest !== undefined && now() - newest.sentAt < leaseMs', 'newest !== undefined']],
    suite: 'test/worker/lease/sequence.test.ts',
    test: 'after a gap between two sources renewals count from its end',
  },
  {
    defence: 'Leases: what an attempt leaves for its successor is kept',
    file: 'worker/lease/worker-lease.ts',
    edits: [['if (entries.has(work.id)) register(entry).catch(() => undefined);', '']],
    suite: HOLDING,
    test: 'keeps the newest that an attempt leaves for its successor, until it has ended',
  },
  {
    defence: 'Leases: a lease is listed before anything is registered under it',
    file: 'worker/lease/worker-lease.ts',
    edits: [['begin().begun.then(', 'Promise.resolve().then(']],
    suite: HOLDING,
    test: 'registers nothing before it is listed',
  },
  {
    defence: 'Leases: a worker that ends with attempts in progress says so',
    file: 'worker/lease/worker-lease.ts',
    edits: [
      ['entries.size === 0 ? leases.forget(holder) : leases.end(holder)', 'leases.forget(holder)'],
    ],
    suite: HOLDING,
    test: 'a worker that ends with attempts in progress says so',
  },
];

const attempts = [
  {
    defence: 'Leases: the next token is higher than the lost one, whatever clocks say',
    file: 'activities/lease.ts',
    edits: [['Math.max(byClock, (replaces?.token ?? 0) + attempt * APART)', 'byClock']],
    suite: ATTEMPT,
    test: 'the token of an attempt that replaces a lost one is higher than the lost one, also when the clock of the server steps back',
  },
  {
    defence: 'Leases: an attempt is registered before its claim',
    file: 'activities/as-activity.ts',
    edits: [['      await attempt.registered;\n', '']],
    suite: ATTEMPT,
    test: 'an attempt under a lease is registered before its claim, and removed when it has ended',
  },
  {
    defence: 'Leases: a worker whose lease has lapsed begins nothing',
    file: 'activities/open-attempt.ts',
    edits: [[' || lease?.isHeld() === false', '']],
    suite: ATTEMPT,
    test: 'an attempt under a lease does not begin in a worker whose lease has lapsed',
  },
  {
    defence: 'Stop: a stop whose message is lost arrives with a renewal of the lease',
    file: 'activities/cut-on-stop.ts',
    edits: [
      [
        'const endMail = lease?.onStop(conversation, onStop);',
        'const endMail = lease?.onStop(conversation, () => undefined);',
      ],
    ],
    suite: ATTEMPT,
    test: 'an attempt under a lease is cut by a stop that only a renewal of its lease brings',
  },
  {
    defence: 'Stop: so it does over the wire',
    file: 'stores/redis/leases.ts',
    edits: [['redis.rpush(stops, JSON.stringify([sessionId, runId])),', '']],
    suite: 'test/e2e/lost-stop.test.ts',
    test: 'a stop whose message is lost on its way reaches a silent model with the next renewal',
  },
  {
    defence: 'Leases: a worker that shuts down reports what it cannot finish as lost',
    file: 'activities/as-activity.ts',
    edits: [
      [
        'ref.isLeased === true && isShutdown(cancellationSignal)',
        'isShutdown(new AbortController().signal)',
      ],
    ],
    suite: ATTEMPT,
    test: 'an attempt under a lease is reported as lost by a worker that shuts down, and does not count as such',
  },
  {
    defence: 'Leases: a call that may not be repeated is marked before it asks for permission',
    file: 'activities/tool-call.ts',
    edits: [['isRepeatable(agent, ref) ? undefined : await attempt.becomePatient()', 'undefined']],
    suite: ATTEMPT,
    test: 'an attempt under a lease a call that may not be repeated is taken over late',
  },
  {
    defence: 'Leases: an attempt is registered only for a workflow that schedules it again',
    file: 'activities/lease.ts',
    edits: [['|| ref.isLeased !== true ', '']],
    suite: ATTEMPT,
    test: 'an attempt under a lease is not registered for a workflow that would not schedule it again',
  },
  {
    defence: 'Leases: a lost attempt is scheduled again',
    file: 'workflows/lost-attempts.ts',
    edits: [['if (!isLost(outcome)) return outcome;', 'return outcome as Outcome;']],
    suite: 'test/workflows/lost-attempts.test.ts',
    test: 'an attempt that was lost is scheduled again, and names what it replaces',
  },
  {
    defence:
      'Leases: the attempt after a lost one is noticed by heartbeats if a frozen worker gets it',
    file: 'workflows/lost-attempts.ts',
    edits: [['    if (moved !== true) options = {};\n', '']],
    suite: 'test/workflows/lost-attempts.test.ts',
    test: 'an attempt that was lost is scheduled again, and names what it replaces',
  },
];

export const leases = [...judging, ...holding, ...attempts];

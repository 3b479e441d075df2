// Defences of tools that record steps and wait.
const TRANSITIONS = 'stores/transitions';
const JOURNAL = 'the journal of a call';

export const waiting = [
  {
    defence: 'A call with recorded steps is executed again after its worker was lost',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [
      ["call.again === '1' || (call.ops !== undefined && !journal.isInStep)", "call.again === '1'"],
    ],
    test: `${JOURNAL} a lost call with recorded steps is executed again, and gets them`,
  },
  {
    defence: 'A step that was lost in the middle is not carried out again',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [[' && !journal.isInStep', '']],
    test: `${JOURNAL} a call that was lost in the middle of a step has an unknown outcome`,
  },
  {
    defence: 'A webhook that is called before its tool waits is not refused for good',
    file: 'executor/call-webhook.ts',
    edits: [
      [
        'if (waitedMs >= holdMs) {',
        'if (waitedMs >= holdMs) return undefined;\n      if (holdMs < 0) {',
      ],
    ],
    suite: 'test/in-process/tool-waits.test.ts',
    test: 'a tool that waits a webhook that is called before its tool waits is to be called again',
  },
  {
    defence: 'A recorded result is not replaced',
    file: `${TRANSITIONS}/record-step.ts`,
    edits: [[' && hasResult', ' && false']],
    test: `${JOURNAL} a result that was recorded is kept when it is recorded again`,
  },
  {
    defence: 'What was emitted before a recorded step stays',
    file: `${TRANSITIONS}/lib/journal.ts`,
    edits: [[", `f:${name}`, seqOf(session) ?? '0'", '']],
    test: `${JOURNAL} text before a recorded step stays, text after it is withdrawn`,
  },
  {
    defence: 'The model does not learn what its tool waited for',
    file: `${TRANSITIONS}/lib/settling.ts`,
    edits: [['const isWait = call.of !== undefined;', 'const isWait = false;']],
    test: `${JOURNAL} a call that waits pauses the run; the answer releases it, with the answer`,
  },
  {
    defence: 'A replaced attempt lets no call wait',
    file: `${TRANSITIONS}/suspend-call.ts`,
    edits: [['readOwner(session, writer.name).token !== writer.token || ', '']],
    test: `${JOURNAL} a call waits only while its run is active and its attempt owns it`,
  },
  {
    defence: 'A journal is bounded',
    file: `${TRANSITIONS}/record-step.ts`,
    edits: [["if (at >= most.operations || num(opBytes) > most.bytes) return only('full');\n", '']],
    test: `${JOURNAL} a journal holds a bounded number of operations`,
  },
  {
    defence: 'A webhook that closed unanswered is no longer open',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["wasCalled ? 'already_completed' : 'expired'", "'already_completed'"]],
    test: `${JOURNAL} a webhook takes one request, and none after its end`,
  },
  {
    defence: 'Requests to webhooks are limited by address',
    file: 'api/create-api.ts',
    edits: [['route.payload === undefined ? [] : [webhookRate]', '[]']],
    suite: 'test/api/webhooks.test.ts',
    test: 'a webhook is limited by address',
  },
  {
    defence: 'What is sent to a webhook is bounded',
    file: 'api/read-payload.ts',
    edits: [['bytes > LIMITS.webhookBytes', 'false']],
    suite: 'test/api/webhooks.test.ts',
    test: 'a webhook refuses by name, and what it refuses never reaches a tool',
  },
  {
    defence: 'A sleep that is over is not held by a question to people',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: [
      [
        'over === undefined ? NOTHING_RESUMED : releaseAlone(answered, over, log, now)',
        'NOTHING_RESUMED',
      ],
    ],
    test: `waits beside questions a timer that is over releases its call while people are asked, and asks them no more`,
  },
  {
    defence: 'An approval is not held by a sleep',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: [["state === 'waiting' && !isUnseen(kind)", "state === 'waiting'"]],
    test: `waits beside questions the last answer of people releases their calls while a timer runs`,
  },
  {
    defence: 'A release is signalled again although an earlier one was taken',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: [["  dropFields(session, ['taken']);\n", '']],
    test: `waits beside questions a timer that is over releases its call while people are asked, and asks them no more`,
  },
  {
    defence: 'A release whose signal was lost is not taken with the one before it',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: [[' && call.release === root.release', '']],
    test: `waits beside questions a release whose signal was lost is not taken with the one before it`,
  },
  {
    defence: 'A call that was released before does not count for a later release',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: [
      ["redis.call('SADD', session.busy, id) === 1", "redis.call('SADD', session.busy, id) >= 0"],
    ],
    test: `waits beside questions an answer that releases nothing more is not taken by what was released before it`,
  },
  {
    defence: 'A run that takes nothing is signalled less and less often',
    file: 'executor/sweep-session.ts',
    edits: [
      [
        'the less often.\n        return toUnchanged(record, SELDOM_MS);',
        'the less often.\n        return again;',
      ],
    ],
    suite: 'test/executor/decide-sweep.test.ts',
    test: 'a sweep of a run that is silent a sweep that gives a wake-up again comes back later the longer the run was silent',
  },
  {
    defence: 'Answers that release nothing wake no run whose tools sleep',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: [['if (asleep.includes(answered.conversation.part)) return NOTHING_RESUMED;', '']],
    test: `waits beside questions answers that release nothing leave a run asleep, and are taken with its timer`,
  },
  {
    defence: 'A sub-agent that is lost while it alone asks holds nothing that people have answered',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [['(paused || isLastToAsk(session))', 'paused']],
    test: `waits beside questions a sub-agent that is lost while it alone asks lets what people approved continue`,
  },
  {
    defence: 'Nor does the loss of its signal',
    file: 'activities/settle-child.ts',
    edits: [['      await wakeAgain(ref);\n', '']],
    suite: 'test/activities/settle-child.test.ts',
    test: 'a run learns that its lost sub-agent was the last that asked, also from a second attempt',
  },
  {
    defence: 'Without Temporal: a release that comes before its tool has reported its wait is kept',
    file: 'in-process/calls.ts',
    edits: [['          progress.early.add(toolCallId);\n', '          void toolCallId;\n']],
    suite: 'test/in-process/early-release.test.ts',
    test: 'a tool whose wait is over before it has reported that it waits is executed again',
  },
  {
    defence: 'A run keeps asking people when a tool was woken',
    file: 'protocol/carry.ts',
    edits: [[' || partial === true', '']],
    suite: 'test/protocol/carry.test.ts',
    test: 'an answer a wait that is over takes no question off the list, and no answer back',
  },
];

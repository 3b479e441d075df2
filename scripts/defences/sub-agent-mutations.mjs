// The defences of sub-agents; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

const asks =
  'a sub-agent a sub-agent waits for the last answer in the conversation, then all continue';
const refuses = 'a sub-agent a sub-agent is refused for any other call, run or name';
const ends = 'a sub-agent a sub-agent ends with its conversation, and every call is settled once';
const ids = 'a sub-agent a sub-agent has unique call ids';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const subAgents = [
  {
    defence: 'Sub-agents: none is made without its own open call',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: without(
      "  if (call.state !== 'open' || call.child !== child.part) return only('refused');\n",
    ),
    test: 'a sub-agent a sub-agent is refused once its call is settled',
  },
  {
    defence: 'Sub-agents: run and agent are those that the call names',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: without(
      "  if (expected?.runId !== runId || expected.agent !== agent) return only('refused');\n",
    ),
    test: refuses,
  },
  {
    defence: 'Sub-agents: none is made for a run that is over',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: without(
      "  if (up.run !== request.parentRunId || isTerminal(up.status)) return only('superseded');\n",
    ),
    test: refuses,
  },
  {
    defence: 'Sub-agents: their number is limited',
    file: `${TRANSITIONS}/begin-child.ts`,
    edits: [['num(top.children) >= request.most', 'false']],
    test: 'a sub-agent a sub-agent is one of at most a hundred in a run',
  },
  {
    defence: 'Sub-agents: no tool carries their call out',
    file: `${TRANSITIONS}/start-call.ts`,
    edits: without("  if (call.kind === 'subagent') return only('refused');\n"),
    test: 'a sub-agent a sub-agent is created once, from the call that it carries out',
  },
  {
    defence: 'Sub-agents: one sequence for the whole conversation',
    file: `${TRANSITIONS}/append.ts`,
    edits: without('    session[3] = shared[0] as string | false;\n'),
    test: 'a sub-agent a sub-agent writes into the stream of its conversation, with shared sequences',
  },
  {
    defence: 'Sub-agents: answers given to the conversation find who asked',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [['const session = ownerOf(requested, id);', 'const session = requested;']],
    test: 'a sub-agent a sub-agent keeps the conversation active until it pauses, then pauses it and is answered there',
  },
  {
    defence: 'Sub-agents: answers to questions that were not asked yet are refused',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: without(
      "  if (source !== 'tool' && call.ask !== undefined) return only('not_pending');\n",
    ),
    test: asks,
  },
  {
    defence: 'Sub-agents: all continue with the last answer, none before',
    file: `${TRANSITIONS}/lib/resume.ts`,
    edits: without("if (state === 'waiting' && !isUnseen(kind)) return true"),
    test: asks,
  },
  {
    defence: 'Sub-agents: none continues while others are waited for',
    file: `${TRANSITIONS}/claim.ts`,
    edits: without(' || (!isConversation(session) && isPaused(session))'),
    test: asks,
  },
  {
    defence: 'Sub-agents: history keeps the results of what people were asked',
    file: `${TRANSITIONS}/lib/settling.ts`,
    edits: without("      redis.call('RPUSH', session.conversation.rows, shown);\n"),
    test: asks,
  },
  {
    defence: 'Sub-agents: the end of a run ends those below it',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: without('  endSubAgents(session, log, speaker, ending);\n'),
    test: ends,
  },
  {
    defence: 'Sub-agents: a call that was never shown gets no end in the stream',
    file: `${TRANSITIONS}/lib/settling.ts`,
    edits: without('  if (call.ask !== undefined) return;\n'),
    test: ends,
  },
  {
    defence: 'Sub-agents: a lost one writes no more',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: [["if (source === 'child' && call.child !== undefined) endLost", 'if (false) endLost']],
    test: 'a sub-agent a sub-agent that is lost while active ends with its call and writes nothing more',
  },
  {
    defence: 'Sub-agents: an agent with nothing left to wait for continues',
    file: `${TRANSITIONS}/settle-call.ts`,
    edits: without(
      "if (resumed.resume === '' && paused) continueAlone(session, log, now);\n    else ",
    ),
    test: 'a sub-agent a sub-agent may have sub-agents, which pause and end with it',
  },
  {
    defence: 'Sub-agents: a stop of another run is ignored',
    file: `${TRANSITIONS}/stop.ts`,
    edits: without("  if (runId !== undefined && runId !== current.run) return only('nothing');\n"),
    test: 'a sub-agent a sub-agent that is asked to stop stops the conversation',
  },
  {
    defence: 'Sub-agents: a call keeps the id that it was given',
    file: `${TRANSITIONS}/take-call-id.ts`,
    edits: [['return owner === mine;', 'return false;']],
    test: ids,
  },
  {
    defence: 'Sub-agents: no call has the id of one of the conversation',
    file: `${TRANSITIONS}/take-call-id.ts`,
    edits: without(
      "  if (redis.call('HEXISTS', conversation.calls, `state:${id}`) === 1) return false;\n",
    ),
    test: ids,
  },
  {
    defence: 'Sub-agents: nor one that the conversation has used',
    file: `${TRANSITIONS}/take-call-id.ts`,
    edits: [["return redis.call('SISMEMBER', conversation.settled, id) === 0;", 'return true;']],
    test: 'a sub-agent a sub-agent gets no call id that its conversation has used',
  },
  {
    defence: 'Sub-agents: no id is taken for a run that is over',
    file: `${TRANSITIONS}/take-call-id.ts`,
    edits: without("  if (run !== runId || !isLive(status)) return only('superseded');\n"),
    test: ids,
  },
  {
    defence: 'Sub-agents: one that ends while it waits for its provider leaves no wait behind',
    file: 'stores/transitions/claim.ts',
    edits: [
      [
        "if (readField(session.conversation, 'waitsUntil') !== undefined) {",
        'if (session.conversation !== session) {',
      ],
    ],
    test: 'a sub-agent a sub-agent that ends while it waits for its provider leaves no wait behind',
  },
];

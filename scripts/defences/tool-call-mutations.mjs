// Defences of tool calls: once, with the right input, and cut on a stop.
const TOOL_CALL = 'test/activities/tool-call.test.ts';

export const toolCalls = [
  {
    defence: 'A started tool is not executed again by another attempt of its activity',
    file: 'stores/transitions/start-call.ts',
    edits: [['if (!mayRepeat || (isTaken', 'if ((isTaken']],
    suite: TOOL_CALL,
    test: 'tool call is carried out once however often Temporal tries, as long as the first try lives',
  },
  {
    defence: 'A tool that can verify is asked before a lost call is executed again',
    file: 'stores/transitions/start-call.ts',
    edits: [["isUnsure ? 'verify' : 'execute'", "isUnsure ? 'execute' : 'execute'"]],
    test: 'start call a started call of a tool that can verify is permitted after it was not done',
  },
  {
    defence: 'A request that is sent again does not skip the question of a lost call',
    file: 'stores/transitions/start-call.ts',
    edits: [["!isNew && call.unsure === '1'", 'false']],
    test: 'start call a started call of a tool that can verify is permitted after it was not done',
  },
  {
    defence: 'A call that can verify has a budget of lost executions',
    file: 'stores/transitions/start-call.ts',
    edits: [
      [
        'if (!mayRepeat || (isTaken && isExhausted(session, name, owner.token, budget))) {',
        'if (!mayRepeat) {',
      ],
    ],
    test: 'start call a call that can verify is given up when too many executions were lost',
  },
  {
    defence: 'A call to a tool that the provider executes is not executed here',
    file: 'activities/model/proposed-calls.ts',
    edits: [["if (tool.execute === 'provider') {", 'if (false) {']],
    suite: 'test/activities/provider-tools.test.ts',
    test: 'tools that the provider executes a call of ours to one of them is refused, and never executed here',
  },
  {
    defence: 'What the provider executed in a reply that was cut is not sent back',
    file: 'activities/model/prompt.ts',
    edits: [['if (isProviders && row.interrupted !== undefined) break;', '']],
    suite: 'test/activities/provider-tools.test.ts',
    test: 'tools that the provider executes a stop in the middle settles what the provider has not finished, and sends none of it back',
  },
  {
    defence: 'Preliminary results have a pace',
    file: 'activities/tool/preliminary.ts',
    edits: [['if (timer === undefined) write();', 'write();']],
    suite: 'test/activities/preliminary.test.ts',
    test: 'preliminary results the first is shown at once, and later ones at a pace, the newest each time',
  },
  {
    defence: 'Preliminary results of a call have a bound',
    file: 'activities/tool/preliminary.ts',
    edits: [['if (bytes > LIMITS.callPreliminaryBytes) {', 'if (bytes < 0) {']],
    suite: 'test/activities/preliminary.test.ts',
    test: 'preliminary results what is no JSON or too large is left out, and one call may show so much in all',
  },
  {
    defence: 'A stop condition that fails ends its run with a typed error',
    file: 'activities/model/step-tries.ts',
    edits: [["return 'failed';\n", "return 'continues';\n"]],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'a stop condition that throws fails the run with a typed error, without a word of its text',
  },
  {
    defence: 'A tool that is not active in a step is not executed',
    file: 'activities/model/step-commit.ts',
    edits: [['const { tools = [] } = input.call ?? {};', 'const { tools } = agent;']],
    suite: 'test/activities/ai-sdk-agents.test.ts',
    test: 'agents of the AI SDK a tool that is not active in a step is unknown in it',
  },
  {
    defence: 'Hooks are called again when the worker died after the commit',
    file: 'activities/model/model-step.ts',
    edits: [["if ('step' in outcome) {", 'if (false) {']],
    suite: 'test/activities/ai-sdk-hooks.test.ts',
    test: 'hooks are called again when the worker died after the commit, and not for earlier steps',
  },
  {
    defence: 'A tool gets its input as a person changed it',
    file: 'activities/tool-call.ts',
    edits: [['decision?.input ?? call.input', 'call.input']],
    suite: TOOL_CALL,
    test: 'tool call is carried out with what a person changed its input to, checked again',
  },
  {
    defence: 'A tool that may be tried again is, on whatever worker there is',
    file: 'activities/tool/execute-tool.ts',
    edits: [['number < retry.attempts', 'number < 2']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that may be tried again a tool that may be retried is retried until it succeeds, with one result, one activity and one key',
  },
  {
    defence: 'A tool is not retried indefinitely',
    file: 'activities/tool/execute-tool.ts',
    edits: [['number < retry.attempts', 'number < retry.attempts + 1']],
    suite: 'test/workflows/tools.test.ts',
    test: 'a tool that may be tried again a tool fails after its last attempt, and the model sees its last error',
  },
  {
    defence: 'A result of a run that waits says which calls have results already',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'settled') hasSettled = true;", '']],
    test: 'commit the run does not pause while a server tool must run, but with its result',
  },
  {
    defence: 'A result of a run that waits names the sub-agents that ask',
    file: 'stores/transitions/lib/pause.ts',
    edits: [["if (state === 'open') children.push(childJson(session, id));", '']],
    test: 'a sub-agent a sub-agent keeps the conversation active until it pauses, then pauses it and is answered there',
  },
  {
    defence: 'Abandonment: a call that was only approved is not carried out',
    file: 'stores/transitions/lib/settling.ts',
    edits: [
      [
        "else if (state !== 'settled') {",
        "else if (state !== 'settled' && state !== 'approved') {",
      ],
    ],
    test: 'a message while a person is asked an approved call is not executed if the others are abandoned',
  },
  {
    defence: 'A stop cuts a tool that does not listen',
    file: 'activities/tool-call.ts',
    edits: [['= cutOnStop(deps, ref, attempt);', '= () => undefined;']],
    suite: TOOL_CALL,
    test: 'tool call is cut by a stop, whether or not the tool listens',
  },
  {
    defence: 'A stop between a claim and its subscription is found',
    file: 'activities/cut-on-stop.ts',
    edits: [['else if (isLater) await lookUp();', '']],
    suite: TOOL_CALL,
    test: 'tool call is cut by a stop that comes between its permission and its subscription',
  },
  {
    defence: 'Claim: rows of a session that was erased are not taken for those of the next one',
    file: 'stores/transitions/claim.ts',
    edits: [['wants.born === born && wants.rows <= count', 'wants.rows <= count']],
    test: 'read along a claim brings the rows that the caller does not have, with the results that it takes in',
  },
  {
    defence: 'Claim: a long transcript does not block Redis',
    file: 'stores/transitions/claim.ts',
    edits: [['count - from > MOST_ROWS ? undefined : readRows', 'readRows']],
    test: 'read along a claim leaves many rows to the caller',
  },
];

// Defences of programs that run an agent by the AI SDK's class of this runtime; see mutations.mjs.
const PARTS = 'test/in-process/part-stream.test.ts';
const SUITE = 'test/in-process/tool-loop-agent.test.ts';
const HISTORIES = 'test/in-process/foreign-history.test.ts';
const HISTORY = 'a history that is not known';
const CALL_OPTIONS = 'test/in-process/call-options.test.ts';
const OPTIONS = 'call options of a ToolLoopAgent of this runtime';

export const programs = [
  {
    defence: 'Programs of the AI SDK: only its owner answers the calls of a conversation',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['record?.owner !== owner', 'record === undefined']],
    test: "a ToolLoopAgent of this runtime leaves another person's conversation alone",
  },
  {
    defence: 'Programs of the AI SDK: call options that do not fit begin nothing',
    file: 'in-process/ai-sdk/call-options.ts',
    edits: [['if (issue !== undefined) {', 'if (issue === null) {']],
    suite: CALL_OPTIONS,
    test: `${OPTIONS} are refused before anything begins: what does not fit`,
  },
  {
    defence: 'Programs of the AI SDK: call options that JSON would change are refused',
    file: 'in-process/ai-sdk/call-options.ts',
    edits: [['if (!isJson(options)) throw', 'if (options === null) throw']],
    suite: CALL_OPTIONS,
    test: `${OPTIONS} are refused before anything begins: a date`,
  },
  {
    defence: 'Programs of the AI SDK: an answer does not change the call options of its turn',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['if (kept !== undefined) requireSameOptions(turn, kept.options);', '']],
    suite: CALL_OPTIONS,
    test: `${OPTIONS} are those of the turn after an approval, in another process too, and no others`,
  },
  {
    defence:
      'Programs of the AI SDK: the schema reads call options as they were given, in each step',
    file: 'in-process/ai-sdk/call-options.ts',
    edits: [
      [
        'return JSON.parse(json) as unknown;',
        'return toToolSchema(schema as FlexibleSchema).parseAsync(options);',
      ],
    ],
    suite: CALL_OPTIONS,
    test: `${OPTIONS} reach prepareCall as in the AI SDK, for each turn its own`,
  },
  {
    defence: 'Programs of the AI SDK: a history that is not known is not lost',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['isKnown ? await execute() :', 'true ? await execute() :']],
    test: 'a ToolLoopAgent of this runtime takes over a history that it does not know, of which nothing is carried out',
  },
  {
    defence: 'Programs of the AI SDK: a result before the new message is no answer',
    file: 'in-process/ai-sdk/read-call.ts',
    edits: [
      [
        "messages.at(-1)?.role === 'user'",
        "messages.at(-1)?.role === 'user' && fresh.every(({ role }) => role === 'user')",
      ],
    ],
    suite: HISTORIES,
    test: `${HISTORY} may end with a result, as in the AI SDK`,
  },
  {
    defence: 'Programs of the AI SDK: a history is not lost because the program names its id',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['const isKnown = await', 'const isKnown = read.sessionId !== undefined || await']],
    suite: HISTORIES,
    test: `${HISTORY} has the id that the program names for it`,
  },
  {
    defence: 'Programs of the AI SDK: a result that is waited for is not lost for a new message',
    file: 'in-process/ai-sdk/conversations.ts',
    edits: [['isAwaited === true', 'isAwaited === null']],
    suite: HISTORIES,
    test: `${HISTORY} has no result that the conversation waits for`,
  },
  {
    defence: 'Programs of the AI SDK: histories count towards quotas',
    file: 'executor/create-runs.ts',
    edits: [['adopt: createAdopt(store)', 'adopt: createAdopt(bare)']],
    suite: HISTORIES,
    test: `${HISTORY} counts towards the quotas of its owner`,
  },
  {
    defence: 'Programs of the AI SDK: of a call that is refused no history is left',
    file: 'in-process/ai-sdk/adopt-history.ts',
    edits: [["record?.runMode === 'branch'", "record?.runMode === 'initial'"]],
    suite: HISTORIES,
    test: `${HISTORY} leaves nothing if the new message is refused`,
  },
  {
    defence: 'Programs of the AI SDK: approvals of two conversations are not taken for one',
    file: 'in-process/ai-sdk/read-call.ts',
    edits: [['if (others.length > 0)', 'if (others.length > 9)']],
    test: 'a ToolLoopAgent of this runtime refuses what it would have to guess: {"messages":[{"role":"tool","content":[{"type":"tool-approval-response","approvalId":"s1:1-a::c1","approved":true}]}],"sessionId":"s2"}',
  },
  {
    defence: 'Programs of the AI SDK: a message that has answered is not an answer again',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [["if (message.role === 'tool') this.#sessions.set(message, sessionId);", '']],
    test: 'a ToolLoopAgent of this runtime takes the results of tools that the program carries out, and gives each message back once',
  },
  {
    defence: 'Programs of the AI SDK: text that is withdrawn ends the stream of the text',
    file: 'in-process/ai-sdk/text-parts.ts',
    edits: [["chunk.type === 'step_discarded' && this.#isOpen", "chunk.type === 'error'"]],
    test: 'a ToolLoopAgent of this runtime text that is withdrawn ends the stream of the text, and the whole text comes all the same',
  },
  {
    defence: 'Programs of the AI SDK: a step ends after the results of its tools',
    file: 'in-process/ai-sdk/text-parts.ts',
    edits: [
      [
        '        return this.#close();\n      default:',
        '        return this.end();\n      default:',
      ],
    ],
    suite: PARTS,
    test: 'the parts of a stream are those of the AI SDK',
  },
  {
    defence: 'Programs of the AI SDK: a call that was made before the stream began is known in it',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['toUses(given)', 'toUses([])']],
    suite: PARTS,
    test: 'the parts of a stream after an approval begin with the outcome of the approved call',
  },
  {
    defence: 'Programs of the AI SDK: a call hears of its own steps',
    file: 'in-process/ai-sdk/call-hooks.ts',
    edits: [['...(open.get(step.sessionId) ?? [])', '...[]']],
    suite: PARTS,
    test: 'the parts of a stream and the fields of its result are those of the AI SDK',
  },
  {
    defence: 'Programs of the AI SDK: a call that takes too long is stopped',
    file: 'in-process/ai-sdk/read-call.ts',
    edits: [['[AbortSignal.timeout(totalMs), ...', '[...']],
    suite: PARTS,
    test: 'the parts of a stream end with the reason when the run is stopped in time',
  },
  {
    defence: 'Programs of the AI SDK: the mark of a denial is no answer of its own',
    file: 'in-process/ai-sdk/read-call.ts',
    edits: [['results.filter(({ toolCallId }) => !decided.has(toolCallId))', 'results']],
    test: 'a ToolLoopAgent of this runtime serves an answer (approved: false) of a page as the AI SDK does',
  },
  {
    defence: 'Programs of the AI SDK: a stream begins with the calls that were denied',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['toUses(given), denied)', 'toUses(given))']],
    suite: PARTS,
    test: 'the parts of a stream after a denial begin with the denied call',
  },
  {
    defence: 'Programs of the AI SDK: a stream that is read late ends with its call',
    file: 'in-process/ai-sdk/text-stream.ts',
    edits: [["if (chunk.type === 'run_paused') break;", '']],
    suite: PARTS,
    test: 'the parts of a stream after an approval begin with the outcome of the approved call',
  },
  {
    defence: 'Programs of the AI SDK: the stream of one of several answers has nothing of the next',
    file: 'in-process/ai-sdk/tool-loop-agent.ts',
    edits: [['isOver ? [] :', 'false ? [] :']],
    suite: PARTS,
    test: 'the parts of a stream after one of several answers are empty, and a result is given back once',
  },
  {
    defence: 'Programs of the AI SDK: a result that the program has is not given back',
    file: 'in-process/ai-sdk/generated.ts',
    edits: [['!given.results.has(row.toolCallId)', 'true']],
    suite: PARTS,
    test: 'the parts of a stream after one of several answers are empty, and a result is given back once',
  },
  {
    defence: 'Programs of the AI SDK: a call ends after the callbacks of its last step',
    file: 'in-process/ai-sdk/call-hooks.ts',
    edits: [['if (newest >= lastStep) resolve();', 'resolve();']],
    suite: PARTS,
    test: 'the parts of a stream and its promises wait for the callbacks of the call, as in the AI SDK',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));

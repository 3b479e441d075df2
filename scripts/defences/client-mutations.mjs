// What the bridge does because real clients force it to; see mutations.mjs. The test of each is one
// situation, played by one version of the stock client.
const suite = 'test/clients/matrix.test.ts';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const clients = [
  {
    defence: 'Clients: the live message has the id that is stored',
    file: 'ai-sdk/turns/turn-progress.ts',
    edits: [['() => span.messageId,', '() => `${span.messageId}-${span.from}`,']],
    suite,
    test: 'text ai 7.0.0',
  },
  {
    defence: 'Clients: what follows an answer comes under the id of the message that asked',
    file: 'ai-sdk/turns/turn-progress.ts',
    edits: [['() => span.messageId,', "() => span.messageId + (span.isTail ? '-2' : ''),"]],
    suite,
    test: 'approve ai 6.0.0',
  },
  {
    defence: 'Clients: steps are framed, or answers are sent without end',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [['options.includeStepEvents ?? true', 'options.includeStepEvents ?? false']],
    suite,
    test: 'client tool ai 6.0.198',
  },
  {
    defence: 'Clients: a reply that ends with results is guarded, or they are sent without end',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [['guard: !isPaused', 'guard: false']],
    suite,
    test: 'stop while the model thinks about an approved call ai 7.0.117',
  },
  {
    defence: 'Clients: a guard is sent only with a part that is written',
    file: 'ai-sdk/parts/step-frame.ts',
    edits: without("      out.push({ type: 'message-metadata', messageMetadata: {} });\n"),
    suite,
    test: 'stop while the model thinks about an approved call ai 6.0.0',
  },
  {
    defence: 'Clients: a snapshot leaves out the active reply',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [['isActive ? toSettledMessages(view) : toAllMessages(view)', 'toAllMessages(view)']],
    suite,
    test: 'reload at boundaries of a turn ai 6.0.0',
  },
  {
    defence: 'Clients: a page that is loaded gets the whole turn',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [['    from: turnStartSequence,\n', '    from: sequence,\n']],
    suite,
    test: 'two tabs look at one reply ai 7.0.58',
  },
  {
    defence: 'Clients: a turn at rest is not replayed to a page that has it',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [['sawActiveSince === record.turnStartSequence;', 'true;']],
    suite,
    test: 'reload while the agent asks ai 6.0.198',
  },
  {
    defence: 'Clients: a page whose snapshot was active gets a turn that rests by now',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [['sawActiveSince === record.turnStartSequence;', 'false;']],
    suite,
    test: 'reload that comes back after the end ai 6.0.253',
  },
  {
    defence: 'Clients: an answered question is not put again',
    file: 'ai-sdk/turns/turn-progress.ts',
    edits: [['return !span.waiting.calls.has(toolCallId);', 'return false;']],
    suite,
    test: 'reload at boundaries of what follows an approval ai 7.0.117',
  },
  {
    defence: 'Clients: an answer is followed by what is new only',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [
      [
        '...toTurnSpan(session, reader), from, isTail: true',
        '...toTurnSpan(session, reader), isTail: true',
      ],
    ],
    suite,
    test: 'approve ai 7.0.58',
  },
  {
    defence: 'Clients: a reply that was cut short is to be loaded again',
    file: 'ai-sdk/reply/classify.ts',
    edits: [['isBehind ? copyIsBehind() : nothingToDo()', 'nothingToDo()']],
    suite,
    test: 'drop of what follows an answer in the middle, sent again ai 6.0.0',
  },
  {
    defence: 'Clients: a copy that is behind gets no tail',
    file: 'ai-sdk/reply/continue-turn.ts',
    edits: without('  if (isAhead(copy, calls)) throw copyIsBehind();\n'),
    suite: 'test/ai-sdk/reply/answers.test.ts',
    test: 'answers (path 3) a copy that is behind in a later step is sent back for its snapshot',
  },
  {
    defence: 'Clients: all questions of a conversation with sub-agents stand in one last step',
    file: 'activities/model/sub-agents.ts',
    edits: [['const isAsked = (kind', 'const isAsked = isChild && (kind']],
    suite,
    test: 'sub-agent that asks, named after what the agent asks itself ai 6.0.0',
  },
  {
    defence:
      'Clients: what was not shown as it came is shown, and stored, behind the rest of its step',
    file: 'ai-sdk/parts/convert-messages.ts',
    edits: [["return part.type === 'tool-call' && part.late === true;", 'return false;']],
    suite,
    test: 'an agent with sub-agents asks beside a tool ai 6.0.0',
  },
  {
    defence: 'Clients: without cookies a snapshot at rest takes an older active one back',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: without(
      '  else if (activeSnapshotTurn === turn) await sessions.noteRestingSnapshot(sessionId, turn);\n',
    ),
    suite,
    test: 'no-cookies: reload after the end, beside a page that was loaded while the turn was active ai 6.0.0',
  },
  {
    defence: 'Clients: a page is asked to reload before its response is cut',
    file: 'ai-sdk/turns/turn-frames.ts',
    edits: without('    yield* createCutNotice(error, progress.position, signal);\n'),
    suite,
    test: 'a reply that is withdrawn ai 7.0.0',
  },
  {
    defence: 'Transports: a stream is read on when nothing was made of what arrived',
    file: 'ai-sdk/client/to-stream.ts',
    edits: [['if (next.done === true || next.value.length > 0) return;', 'return;']],
    suite: 'test/ai-sdk/client/to-stream.test.ts',
    test: 'a stream of parts is read on when nothing was made of what arrived',
  },
  {
    defence: "Agent server: a page's own parts are sent with its message",
    file: 'ai-sdk/client/agent-answers.ts',
    edits: [["return 'data' in part && part.data !== undefined", 'return false']],
    suite: 'test/e2e/helix-transport.test.ts',
    test: "ai 7: a chat on the agent server a chat on the agent server sends the page's own parts",
  },
  {
    defence: 'Agent server: a part without data fails no message',
    file: 'ai-sdk/client/agent-answers.ts',
    edits: [["'data' in part && part.data !== undefined", 'true']],
    suite: 'test/e2e/helix-transport.test.ts',
    test: "ai 7: a chat on the agent server a chat on the agent server sends the page's own parts",
  },
  {
    defence: 'Hook: a retry after a fault of the server does no turn again',
    file: 'ai-sdk/react/use-recovery.ts',
    edits: [['error instanceof ChatRequestError || ', '']],
    suite: 'test/ai-sdk/react/helix-chat.test.ts',
    test: 'useHelixChat on useChat of 4 a retry after a fault of the server repeats no turn',
  },
  {
    defence: 'Hook: a page that React mounts twice resumes',
    file: 'ai-sdk/react/use-refresh.ts',
    edits: [
      [
        '    () => () => {\n      resuming.current = undefined;\n    },',
        '    () => () => undefined,',
      ],
    ],
    suite: 'test/ai-sdk/react/helix-chat.test.ts',
    test: 'useHelixChat on useChat of 4 a page resumes a reply in strict mode too, which mounts it twice',
  },
];

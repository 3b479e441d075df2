// Defences of the AI SDK bridge that recorded turns, forged histories and concurrent writers try.

const RELOADS = 'test/ai-sdk/reload-everywhere-7.test.ts';
const RELOADED = 'a page of the v7 profile that is loaded at any point of:';
const ORIGIN = 'test/ai-sdk/turns/turn-origin.test.ts';
const SNAPSHOTS = 'test/ai-sdk/reply/snapshot-sequence.test.ts';
const FORGED = 'test/e2e/forgery/forged.test.ts';
const TRANSFORMER = 'test/ai-sdk/parts/stream-transformer.test.ts';
const DEAD_ATTEMPTS = 'test/ai-sdk/parts/dead-attempts.test.ts';
const DATA_PARTS = 'test/ai-sdk/reply/data-parts.test.ts';
const INTENT = 'test/ai-sdk/reply/resume-intent.test.ts';

export const bridge = [
  {
    defence: 'Static parts: no event of a call has the flag',
    file: 'ai-sdk/parts/static-parts.ts',
    edits: [
      [
        "if (!('dynamic' in event)) return event;",
        "if (event.type !== 'tool-input-start') return event;",
      ],
      [
        'const { dynamic: _, ...rest } = event;',
        'const { dynamic: _, ...rest } = event as { dynamic?: true };',
      ],
    ],
    suite: 'test/api/tool-parts.test.ts',
    test: 'a stream has the flag on all events of a call, or on none',
  },
  {
    defence: 'Static parts: history has the form that the stream has',
    file: 'api/tool-parts.ts',
    edits: [["=== 'dynamic'", "!== 'neither'"]],
    suite: 'test/api/tool-parts.test.ts',
    test: 'messages has the parts that the request asks for',
  },
  {
    defence: 'Bridge: a turn that fails before its first output keeps its message',
    file: 'stores/transitions/lib/finish.ts',
    edits: [["ending.status !== 'completed'", "ending.status === 'interrupted'"]],
    test: 'end a turn that failed or was aborted without text counts as a visible message, too',
  },
  {
    defence: 'Bridge: a copy that ends with a question has no reply',
    file: 'ai-sdk/turns/ui-history.ts',
    edits: [['hasRun && ', '']],
    suite: 'test/e2e/reruns.test.ts',
    test: 'doing again, over HTTP the API copies a conversation, which continues independently',
  },
  {
    defence: 'Bridge: a replay has the id that the message has in history',
    file: 'ai-sdk/turns/turn-progress.ts',
    edits: [['generateMessageId: () => span.messageId', "generateMessageId: () => 'another'"]],
    suite: RELOADS,
    test: `${RELOADED} text-and-reasoning`,
  },
  {
    defence: 'Bridge: steps are framed',
    file: 'ai-sdk/parts/step-frame.ts',
    edits: [['this.#isShown = options.isShown;', 'this.#isShown = false;']],
    suite: RELOADS,
    test: `${RELOADED} streamed-arguments`,
  },
  {
    defence: 'Bridge: the snapshot of an active run leaves its message out',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [['isActive ? toSettledMessages(view) : toAllMessages(view)', 'toAllMessages(view)']],
    suite: 'test/ai-sdk/reload-everywhere-6.test.ts',
    test: 'ai 6.0.0: a page that is loaded at any point of: streamed-arguments',
  },
  {
    defence: 'Bridge: a page that saw the turn active gets it after its end',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [[': sawActiveSince === record.turnStartSequence;', ': false;']],
    suite: RELOADS,
    test: `${RELOADED} text-and-reasoning`,
  },
  {
    defence: 'Bridge: so does a page without cookies',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [['? record.activeSnapshotTurn === record.turn', '? false']],
    suite: RELOADS,
    test: `${RELOADED} streamed-arguments`,
  },
  {
    defence: 'Bridge: what follows an answer begins at the pause that asked',
    file: 'ai-sdk/reply/tail-start.ts',
    edits: [
      [
        "const newest = record.stream === 'paused' ? record.pauseSequence : record.sequence;",
        'const newest = record.turnStartSequence;',
      ],
    ],
    suite: RELOADS,
    test: `${RELOADED} approved`,
  },
  {
    defence: 'Bridge: a denied call is one of the answers while others of its step wait',
    file: 'ai-sdk/parts/tool-part.ts',
    edits: [['!isBesideOpen ||', 'true ||']],
    suite: 'test/ai-sdk/reply/answers.test.ts',
    test: 'answers (path 3) a denial is one of the answers until the others are there',
  },
  {
    defence: 'Bridge: answers that another page completes get what follows',
    file: 'ai-sdk/reply/continue-turn.ts',
    edits: [['[...stored, ...known.map(({ toolCallId }) => toolCallId)]', '[]']],
    suite: 'test/ai-sdk/reply/answers.test.ts',
    test: 'answers (path 3) a client whose batch another client completes gets the stream that follows',
  },
  {
    defence: 'Bridge: an agent with a state is replayed from its log',
    file: 'ai-sdk/turns/turn-origin.ts',
    edits: [["if (message.type === 'state_patch' && isModel) return true;", '']],
    suite: ORIGIN,
    test: 'where a replay begins a replay begins in the log, also when an agent with a state adds its defaults before it speaks',
  },
  {
    defence: 'Bridge: chunks of running calls are read from the log',
    file: 'ai-sdk/turns/turn-origin.ts',
    edits: [["if (message.type === 'custom' && unfinished.has(writer)) return true;", '']],
    suite: ORIGIN,
    test: 'where a replay begins a replay begins in the transcript if the beginning is gone, and in the log for events of unfinished calls',
  },
  {
    defence: 'Bridge: the state of a replayed turn is that of its beginning',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [['isReplayed ? [] : changes', 'changes']],
    suite: SNAPSHOTS,
    test: 'on memory, beside a writer snapshots without the reply continue without a gap or a repetition',
  },
  {
    defence: 'Bridge: the state beside a running message is that of its sequence',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [
      [
        'readAgentState(deps, record, isReplayed ? [] : changes)',
        'readAgentState(deps, record, isReplayed ? [] : undefined)',
      ],
    ],
    suite: SNAPSHOTS,
    test: 'on memory, beside a writer snapshots with as much of it as there is continue without a gap or a repetition',
  },
  {
    defence: 'Bridge: answers in another person’s session are refused',
    file: 'ai-sdk/reply/classify.ts',
    edits: [['if (session?.isOwn === false) return refuse(notFound());', '']],
    suite: FORGED,
    test: 'strangers another person can neither answer nor learn',
  },
  {
    defence: 'Bridge: results that claim to be a provider’s are no answers',
    file: 'ai-sdk/reply/resume-intent.ts',
    edits: [["if (part['providerExecuted'] === true) return false;", '']],
    suite: FORGED,
    test: 'forged history a forged history with a client tool’s result that claims to be the provider’s changes nothing',
  },
  {
    defence: 'Bridge: a failure is reported to a page that saw the turn active',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [
      [
        "  if (record.stream === 'active') return true;\n",
        "  if (record.stream !== 'ended') return record.stream === 'active';\n",
      ],
    ],
    suite: 'test/ai-sdk/reply/chat-paths.test.ts',
    test: 'GET (paths 5, 6) a GET reports a failed turn to a page whose snapshot was active, and to no other',
  },
  {
    defence: 'Bridge: an answer takes one read of the session',
    file: 'ai-sdk/reply/continue-turn.ts',
    edits: [
      [
        'submitToolResult({ sessionId, by, ...intent }, options)',
        'submitToolResult({ sessionId, by, ...intent })',
      ],
    ],
    suite: 'test/ai-sdk/reply/session-reads.test.ts',
    test: 'session reads of one request an approval takes one read of the session',
  },
  {
    defence: 'Bridge: a result of an earlier step is not lost with the smaller read',
    file: 'ai-sdk/reply/classify.ts',
    edits: [['.some((toolCallId) => !open.has(toolCallId))', '.some(() => false)']],
    suite: 'test/ai-sdk/reply/session-reads.test.ts',
    test: 'session reads of one request a result of an earlier step takes the rows of the newest turn as well',
  },
  {
    defence: 'Bridge: the calls of another person’s session are not even read',
    file: 'stores/transitions/read-view.ts',
    edits: [['if (owner !== undefined && !isOwnedBy(session, owner)) return [root, [], []];', '']],
    suite: 'test/stores/conformance/memory.test.ts',
    test: "withCalls a page with calls leaves out the calls of another owner's session",
  },
  {
    defence: 'Bridge: a conversation whose agent was withdrawn is not continued',
    file: 'ai-sdk/reply/classify.ts',
    edits: [['isAddressable(agents, own) ? own : { refusal: agentUnavailable() }', 'own']],
    suite: 'test/ai-sdk/reply/classify.test.ts',
    test: 'a session whose agent was removed is refused',
  },
  {
    defence: 'Answers: those of another run than the one that asked are not taken',
    file: 'ai-sdk/reply/resume-intent.ts',
    edits: [['if (runId !== (call?.runId ?? currentRunId)) {', 'if (runId === undefined) {']],
    suite: INTENT,
    test: 'extractResumeIntent extractResumeIntent rejects an answer for an older run',
  },
  {
    defence: 'Bridge: an end behind a call is guarded',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [['guard: !isPaused', 'guard: false']],
    suite: TRANSFORMER,
    test: 'StreamTransformer StreamTransformer guards an end behind a call, not a pause',
  },
  {
    defence: 'Bridge: who holds part of a dead attempt is cut',
    file: 'ai-sdk/parts/stream-transformer.ts',
    edits: [
      ["if (message.type === 'step_discarded') this.#discard(message, result);\n    else if", 'if'],
    ],
    suite: DEAD_ATTEMPTS,
    test: 'an attempt that died a dead attempt cuts a reader that received part of it',
  },
  {
    defence: "Bridge: a page's own parts of a user message stay where they were",
    file: 'ai-sdk/parts/convert-messages.ts',
    edits: [['parts.splice(at + index, 0, part);', 'parts.push(part);']],
    suite: DATA_PARTS,
    test: "a page's own parts of a user message are shown where they were, between others",
  },
  {
    defence: "Bridge: a page's own parts count towards the size of their message",
    file: 'ai-sdk/reply/user-messages.ts',
    edits: [['if (bytes > LIMITS.userMessageBytes)', 'if (false)']],
    suite: DATA_PARTS,
    test: "a page's own parts of a user message count towards the size of their message",
  },
  {
    defence: 'Bridge: an older message that is sent again unchanged is answered again',
    file: 'ai-sdk/reply/classify.ts',
    edits: [
      ['if (isSameContent(edited, known)) {', 'if (isSameContent(edited, known)) {\n    return;'],
    ],
    suite: 'test/ai-sdk/reply/classify.test.ts',
    test: 'an older message that is sent again unchanged is answered again',
  },
  {
    defence: 'Bridge: an edit that comes again late drops nothing',
    file: 'ai-sdk/reply/redo-turn.ts',
    edits: [['edited: true', 'edited: false']],
    suite: 'test/e2e/chat-edits.test.ts',
    test: 'an edit an edit that comes again late drops nothing',
  },
];

// Defences of the routes that speak other protocols.

const REQUESTS = 'test/api/fronts/completion-requests.test.ts';
const FOLLOW = 'test/in-process/ag-ui-follow.test.ts';
const AG_UI = 'test/e2e/ag-ui-copies.test.ts';
const RETRIES = 'test/e2e/openai-retries.test.ts';
const PYTHON = 'test/fronts/python-client.test.ts';
const SUITE = 'test/api/fronts/posted-answers.test.ts';

export const fronts = [
  {
    defence: 'Completions: a model that does not exist is refused as clients expect it',
    file: 'api/routes/openai.ts',
    edits: [['if (isAddressable(agents, name)) return;', 'if (name !== "") return;']],
    suite: REQUESTS,
    test: 'refusals of a completion a model that does not exist is what the client takes for one',
  },
  {
    defence: 'Other protocols: an approval takes a decision, and no result',
    file: 'api/fronts/posted-answers.ts',
    edits: [['if (undecided.has(toolCallId)) throw notADecision();', '']],
    test: 'answers of another protocol an approval is not given by yes',
  },
  {
    defence: 'Completions: the same key of another caller is another conversation',
    file: 'api/openai/conversation.ts',
    edits: [['[caller.tenantId, caller.userId, key]', '[key]']],
    test: 'the conversation of a completion a key names the same conversation and messages again, for the same caller only',
  },
  {
    defence: 'Other protocols: a decision is about the approval that it names',
    file: 'api/fronts/posted-answers.ts',
    edits: [['id: approvalId ?? asked', 'id: asked']],
    test: 'answers of another protocol a decision is about the approval that it names',
  },
  {
    defence: 'Other protocols: an answer that was not taken is a refusal',
    file: 'api/fronts/require-taken.ts',
    edits: [['if (first !== undefined) throw', 'if (first === null) throw']],
    suite: RETRIES,
    test: 'the client of OpenAI: answers and copies an approval that came too late is refused by its code',
  },
  {
    defence: 'AG-UI: no user message is dropped for what stands behind it',
    file: 'api/ag-ui/read-input.ts',
    edits: [
      [
        "added.filter(({ role }) => role === 'user')",
        "messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1)",
      ],
    ],
    suite: 'test/api/ag-ui/read-input.test.ts',
    test: 'what a client of AG-UI adds all user messages after the last reply, whatever stands between and behind them',
  },
  {
    defence: "AG-UI: a copy that ends in the server's results is followed",
    file: 'api/ag-ui/reply-run.ts',
    edits: [
      [
        "return !hasUser && (code === 'nothing_to_do'",
        'return params.messages.length === 0 && (code === "nothing_to_do"',
      ],
    ],
    suite: AG_UI,
    test: "copies of AG-UI's clients one that ends in a result of the server is followed",
  },
  {
    defence: 'AG-UI: the state of a repeated turn has none of its patches',
    file: 'ai-sdk/turns/state-at.ts',
    edits: [
      [
        'const isInTurn = after >= turnStartSequence;',
        'const isInTurn = after < 0 && turnStartSequence < 0;',
      ],
    ],
    suite: AG_UI,
    test: "copies of AG-UI's clients the state of a repeated turn begins where its patches begin",
  },
  {
    defence: 'Completions: each of a run has an id of its own',
    file: 'api/openai/reply-completion.ts',
    edits: [['hashOf([sessionId, brought])', 'hashOf([sessionId])']],
    suite: 'test/e2e/openai-calls.test.ts',
    test: 'the client of OpenAI: calls each completion of a run has an id of its own, and the same one when it is asked for again',
  },
  {
    defence: 'Other protocols: the type of a file is a media type',
    file: 'api/fronts/data-url.ts',
    edits: [['if (MEDIA_TYPE.test(mediaType)) return', 'if (mediaType !== "") return']],
    suite: 'test/api/ag-ui/requests.test.ts',
    test: 'a request of AG-UI that cannot be taken is refused by its code: a file of a malformed type',
  },
  {
    defence: "AG-UI: ids of messages are the turn's, whatever a client calls its runs",
    file: 'api/ag-ui/events-of.ts',
    edits: [['        this.#messageId = part.messageId;\n', '']],
    suite: AG_UI,
    test: "copies of AG-UI's clients ids of messages are unique in a thread whatever runs are called, and stay the same",
  },
  {
    defence: 'AG-UI: the rest of a turn has ids of its own',
    file: 'api/ag-ui/reply-run.ts',
    edits: [['preceding === undefined ? { tailFrom: after } : { preceding }', '{}']],
    suite: AG_UI,
    test: "copies of AG-UI's clients a tail that is asked for again has the ids that it had",
  },
  {
    defence: 'AG-UI: a turn that continues while its conversation is read is shown once',
    file: 'api/ag-ui/reply-run.ts',
    edits: [['snapshot.messages.filter(({ id }) => id !== messageId)', 'snapshot.messages']],
    suite: FOLLOW,
    test: 'a turn that continues while its conversation is read is shown once',
  },
  {
    defence: 'AG-UI: a reply that is being written is shown by its stream alone',
    file: 'api/ag-ui/reply-run.ts',
    edits: [
      ['includePartialContent: false }', 'includePartialContent: true }'],
      ['snapshot.messages.filter(({ id }) => id !== messageId)', 'snapshot.messages'],
    ],
    suite: FOLLOW,
    test: 'a reply that is being written is shown by its stream alone',
  },
  {
    defence: 'AG-UI: an interrupt is not both approved and denied',
    file: 'api/ag-ui/read-input.ts',
    edits: [['other !== undefined && other !== decision.approved', 'other === null']],
    suite: 'test/api/ag-ui/requests.test.ts',
    test: 'a request of AG-UI that cannot be taken is refused by its code: two decisions about one call',
  },
  {
    defence: 'AG-UI: ids of results may hold any id of a call',
    file: 'protocol/ag-ui.ts',
    edits: [['.max(2 * LIMITS.idChars)', '.max(LIMITS.idChars)']],
    suite: 'test/api/ag-ui/requests.test.ts',
    test: 'a request of AG-UI that cannot be taken ids of results may be as long as those of their calls allow',
  },
  {
    defence: 'AG-UI: arguments are sent whole if no piece of them was',
    file: 'api/ag-ui/events-of.ts',
    edits: [["state === 'partial' ? []", 'state !== undefined ? []']],
    suite: 'test/api/ag-ui/events-of.test.ts',
    test: "events of AG-UI's calls arguments of which no piece came are sent whole",
  },
  {
    defence: 'Completions: a request that a client repeats automatically does nothing twice',
    file: 'api/openai/retry-key.ts',
    edits: [["count === '0' || claim.kind === 'new' ? key : claim.digest", 'key']],
    suite: REQUESTS,
    test: 'a completion that its client repeats has the key of the newest first try with its content and caller',
  },
  {
    defence: 'Completions: a refusal that another try would meet again is final',
    file: 'api/middleware/refusals.ts',
    edits: [["response.set(SHOULD_RETRY, 'false')", 'void SHOULD_RETRY']],
    suite: RETRIES,
    test: 'the client of OpenAI as it comes: tries a refusal that another try would meet again is not tried again',
  },
  {
    defence: 'Completions: one more message under a key is another content',
    file: 'api/openai/posted-messages.ts',
    edits: [['String(newest.length - 1 - index)', 'String(index)']],
    suite: REQUESTS,
    test: 'messages of a completion one more at the end is another content of the same message',
  },
  {
    defence: 'Completions: the newest end of a long history is quoted',
    file: 'api/openai/posted-messages.ts',
    edits: [['text.slice(-left)', 'text.slice(-left, text.length < left ? undefined : 0)']],
    suite: REQUESTS,
    test: 'messages of a completion of a long history the newest characters are quoted',
  },
  {
    defence: "Other origins: OpenAI's client may send its headers",
    file: 'api/middleware/cross-origin.ts',
    edits: [['...Object.values(asked), ...OPENAI_HEADERS', '...Object.values(asked)']],
    suite: REQUESTS,
    test: 'the client of OpenAI in a browser may send its headers from a listed origin, and read what it needs',
  },
  {
    defence: 'Python: a connection that is opened again does not begin the reply again',
    file: 'clients/python/helix_temporal/reply.py',
    edits: [['return not known', 'return True']],
    suite: PYTHON,
    test: 'a reply survives a kill of the API, with each part once',
  },
  {
    defence: 'Python: after an answer only the rest of the reply comes, also in another program',
    file: 'clients/python/helix_temporal/conversation.py',
    edits: [['int(self.snapshot().stream_sequence)', 'self._position']],
    suite: PYTHON,
    test: 'another program approves with another input, and gets the rest only',
  },
  {
    defence: 'Python client: what follows an answer arrives, though an attempt was withdrawn',
    file: 'clients/python/helix_temporal/conversation.py',
    edits: [['position, open_whole=open_whole, is_final', 'position, is_final']],
    suite: PYTHON,
    test: 'what follows an answer arrives once, also when an attempt was withdrawn before it was read',
  },
  {
    defence: 'Python: refusals are exceptions',
    file: 'clients/python/helix_temporal/connect.py',
    edits: [['[*hooks.get("response", []), raise_refusal]', '[*hooks.get("response", [])]']],
    suite: PYTHON,
    test: 'refusals are exceptions with the codes of the protocol',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));

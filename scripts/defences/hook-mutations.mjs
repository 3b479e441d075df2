// The package's hook and transport, as the demo page uses them; see mutations.mjs.
const FOLLOWED = 'test/e2e/followed-conversation.test.ts';
const KEPT = 'test/ai-sdk/client/keep-unsent.test.ts';
const UNDELIVERED = 'test/web/undelivered.test.ts';

export const hooks = [
  {
    defence: 'Page: a message that arrived is not given back into the composer',
    file: 'web/src/conversation.ts',
    edits: [
      [
        "if (last?.role !== 'user' || this.#accepted.has(last.id)) return;",
        "if (last?.role !== 'user') return;",
      ],
    ],
    suite: UNDELIVERED,
    test: 'a message that may not have arrived a message that arrived is not given back into the composer if a repetition is refused',
  },
  {
    defence: 'Page: a refused message is given back before the page has shown it, too',
    file: 'web/src/conversation.ts',
    edits: [['const last = shown.at(-1);', 'const last = chat.messages.at(-1);']],
    suite: UNDELIVERED,
    test: 'a message that may not have arrived a message that the page has not shown yet goes back to the composer if it is refused',
  },
  {
    defence: 'Hook: a reply that is withdrawn repeatedly is not followed again at once',
    file: 'ai-sdk/react/use-recovery.ts',
    edits: [['isRepeated ? retryDelayMs(tries) : 0', '0']],
    suite: 'test/ai-sdk/react/withdrawn.test.ts',
    test: 'useHelixChat on useChat of 4 a page waits longer each time before it follows a reply that is withdrawn repeatedly',
  },
  {
    defence: 'Hook: a page with eventsUrl follows what begins elsewhere',
    file: 'ai-sdk/react/use-following.ts',
    edits: [
      ['      refresh({}, () => event.sequence > seen.current).catch(() => undefined);\n', ''],
    ],
    suite: FOLLOWED,
    test: 'useChat of 4 with eventsUrl shows what another page begins, and what is answered elsewhere',
  },
  {
    defence: 'Hook: a refresh keeps answers that the server still asks for',
    file: 'ai-sdk/client/keep-unsent.ts',
    edits: [['(answers.get(part.toolCallId) ?? part)', 'part']],
    suite: KEPT,
    test: 'the messages of a page that looks at the server a refresh keeps answers that the server still asks for',
  },
  {
    defence: 'Hook: a refresh keeps a message that never arrived',
    file: 'ai-sdk/client/keep-unsent.ts',
    edits: [['isUnsent(server, last)', 'false']],
    suite: KEPT,
    test: 'the messages of a page that looks at the server a refresh keeps a message that never arrived, and none that did',
  },
  {
    defence: 'Transport: a full queue or quota is not asked again and again',
    file: 'ai-sdk/client/chat-request-error.ts',
    edits: [[' && !LASTING.has(code)', '']],
    suite: 'test/ai-sdk/client/connection-changes.test.ts',
    test: 'a resumable transport a resumable transport gives up at once on a refusal that lasts: quota_exceeded',
  },
  {
    defence: 'Transport: a page learns that its request does not get through',
    file: 'ai-sdk/client/patience.ts',
    edits: [['    this.#report(true);\n', '']],
    suite: 'test/ai-sdk/client/connection-changes.test.ts',
    test: 'a resumable transport a resumable transport reports that a request does not get through, and that it did',
  },
  {
    defence: 'Client: a chat that has not begun has a snapshot of the same shape as others',
    file: 'ai-sdk/client/load-snapshot.ts',
    edits: [['    state: null,\n', '']],
    suite: 'test/api/snapshots.test.ts',
    test: 'loadSnapshot gives an empty snapshot for a chat that has not begun, in the same shape as others.',
  },
];

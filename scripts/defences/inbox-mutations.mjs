// The defences of what inboxes read; see mutations.mjs.

export const inbox = [
  {
    defence: 'Inbox: a question is on its owner’s list before it is stored',
    file: 'stores/redis/session-store.ts',
    edits: [['      if (input.calls.some(isQuestion)) await noteAsking(sessionId);\n', '']],
    test: 'sessions that wait for people sessions are listed with their questions, longest waiting first',
  },
  {
    defence: 'Inbox: the record says whose session it is, whatever list it is on',
    file: 'stores/record/waiting-page.ts',
    edits: [['list.belongs(calls.record) && ', '']],
    test: 'sessions that wait for people a waiting session belongs to the owner in its record, whatever list it is on',
    suite: 'test/stores/redis/waiting-index.test.ts',
  },
  {
    defence: 'Inbox: what waits no more is not shown',
    file: 'stores/record/waiting-page.ts',
    edits: [[' && calls.openCalls.some(asks)', '']],
    test: 'sessions that wait for people a session is no longer listed once it is answered, stopped or erased',
  },
  {
    defence: 'Inbox: entries of one moment are read once',
    file: 'stores/redis/scored-list.ts',
    edits: [['filter((member) => isBehind(member, after))', 'filter(() => true)']],
    test: 'sessions that wait for people sessions that asked within one millisecond are all found',
    suite: 'test/stores/redis/waiting-index.test.ts',
  },
  {
    defence: 'Inbox: the sweeper finds what a list has lost',
    file: 'executor/sweep-session.ts',
    edits: [["    if (current.stream === 'paused') await store.waiting.note(sessionId);\n", '']],
    suite: 'test/executor/sweep.test.ts',
    test: 'the sweep the sweep puts a waiting run back on the list of those that wait, and an ended one off',
  },
  {
    defence: 'Conversations: the next page of a search begins behind the last match that was shown',
    file: 'stores/redis/conversation-pages.ts',
    edits: [
      ['taken.length < matches.length ? taken.at(-1)?.entry : listed.at(-1)', 'listed.at(-1)'],
    ],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'conversations of an owner a search finds titles in upper and lower case, page by page',
  },
];

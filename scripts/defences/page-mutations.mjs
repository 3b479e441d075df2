// What the page shows people before they agree; see mutations.mjs.
const SHAPE = 'test/web/form/to-shape.test.ts';
const REPORT = 'test/web/report-items.test.ts';
const FORM = 'test/web/form/schema-form.test.ts';
const PROPOSED = 'test/activities/proposed-calls.test.ts';
const STATUS = 'test/web/page-status.test.ts';
const INBOX = 'test/page/page-inbox.test.ts';

const CONSOLE_RUN = 'test/web/console-run.test.ts';

export const page = [
  {
    defence: 'Console: what tools are given and return is text, never markup',
    file: 'web/src/tool-values.tsx',
    edits: [
      ['>{readable(value)}</pre>', ' dangerouslySetInnerHTML={{ __html: readable(value) }} />'],
    ],
    suite: CONSOLE_RUN,
    test: 'the console HTML in what a tool was given and returned is shown as the text that it is',
  },
  {
    defence: 'Console: the bar of what has ended is as long as it lasted',
    file: 'web/src/console/timeline.tsx',
    edits: [['(span.endedAt ?? now) - span.startedAt', 'now - span.startedAt']],
    suite: CONSOLE_RUN,
    test: 'the console the bar of a wait is as long as from the question to its decision',
  },
  {
    defence: 'Console: a model that failed before its first word has a bar',
    file: 'api/fold-timeline.ts',
    edits: [['if (!chunk.recoverable) fail(chunk);', '']],
    suite: 'test/api/fold-timeline.test.ts',
    test: 'createTimelineFold a model that failed before its first word has a bar of its own, with the reason',
  },
  {
    defence: 'Console: a run that failed between its steps has no failed model',
    file: 'api/fold-timeline.ts',
    edits: [['NO_STEP.has(code) || from >= at', 'from >= at']],
    suite: 'test/api/fold-timeline.test.ts',
    test: 'createTimelineFold a run that has spent what it may has no failed model',
  },
  {
    defence: 'Page: the task of another agent is folded',
    file: 'web/src/sub-agent-card.tsx',
    edits: [
      [
        '<details className="values" data-testid="sub-agent-input">',
        '<details open className="values" data-testid="sub-agent-input">',
      ],
    ],
    suite: 'test/page/page-people.test.ts',
    test: 'the page shows what the researcher was asked and what it found',
  },
  {
    defence: 'Page: a message that waits breaks within long words',
    file: 'web/src/styles/lists.css',
    edits: [['  white-space: pre-wrap;\n  overflow-wrap: anywhere;\n', '  white-space: pre;\n']],
    suite: 'test/page/page-turns.test.ts',
    test: 'a message that waits is shown whole on a phone, however long its words are',
  },
  {
    defence: 'Page: the inbox reads as many pages as a person has asked for',
    file: 'web/src/inbox.ts',
    edits: [['page < pages && ', 'page < 1 && ']],
    suite: 'test/web/inbox.test.ts',
    test: '3 pages of what waits are one list that says whether there is more',
  },
  {
    defence: 'Page: only those with a role are shown the way to the console',
    file: 'web/src/console-link.tsx',
    edits: [["  if (!mayAs(roles, 'viewer')) return null;\n", '']],
    suite: 'test/web/console-place.test.ts',
    test: 'the way to the console the chat page links to it for those with a role only',
  },
  {
    defence: 'Page: a form shows what an input has beyond its schema',
    file: 'web/src/form/to-shape.ts',
    edits: [
      ['[...new Set([...Object.keys(declared), ...Object.keys(given)])]', 'Object.keys(declared)'],
    ],
    suite: SHAPE,
    test: 'toShape people see all that they agree to, whatever the schema says of it',
  },
  {
    defence: "Page: a stranger's schema that refers to itself makes no endless form",
    file: 'web/src/form/to-shape.ts',
    edits: [['place.depth > MOST_DEPTH || place.left.shapes < 0', 'place.depth > MOST_DEPTH']],
    suite: SHAPE,
    test: "toShape a stranger's schema makes no endless form, and its references lead nowhere else",
  },
  {
    defence: 'Calls: a huge schema is not stored with each call that waits',
    file: 'activities/model/describe-call.ts',
    edits: [[' || Buffer.byteLength(text) > MOST_SCHEMA_BYTES', '']],
    suite: PROPOSED,
    test: 'what a model asks for a call that waits for people is kept with what its tool says of itself, if pages can use it',
  },
  {
    defence:
      'Page: a form shows a date, and a text of one line, only in a control that shows all of it',
    file: 'web/src/form/shape.ts',
    edits: [["'input' in shape &&", "'input' in shape ||"]],
    suite: SHAPE,
    test: 'toShape a control shows a text whole, or the text is shown as what it is',
  },
  {
    defence: 'Page: an address is not approved of which a phone shows the beginning only',
    file: 'web/src/form/to-shape.ts',
    edits: [
      ["input = isCut ? 'long' : (special", "input = isCut ? (special ?? 'long') : (special"],
    ],
    suite: SHAPE,
    test: 'toShape a text that one line of a phone would cut is shown in as many lines as it needs',
  },
  {
    defence: 'Page: what is inside of an input is shown by its names',
    file: 'web/src/field-list.tsx',
    edits: [['`${toWords(name)}: ${inside(field)}`', 'inside(field)']],
    suite: 'test/web/field-list.test.ts',
    test: 'fields further inside keep their names, so that a reader knows which is which',
  },
  {
    defence: 'Page: what is inside of an input does not run into what is beside it',
    file: 'web/src/field-list.tsx',
    edits: [['`(${inWords(value)})`', 'inWords(value)']],
    suite: 'test/web/field-list.test.ts',
    test: 'what is further inside is in brackets, so that it does not run into its neighbours',
  },
  {
    defence: 'Page: a tool does not get a line break with an account number that was pasted',
    file: 'web/src/form/long-input.tsx',
    edits: [["text.replace(/[\\r\\n]+/g, '')", 'text']],
    suite: FORM,
    test: 'SchemaForm a text of one line that is shown on several gets no line breaks, and Enter sends it',
  },
  {
    defence: 'Page: an answer has no default that its form does not show',
    file: 'web/src/form/to-shape.ts',
    edits: [['start !== undefined && isWhole(shape, start)', 'start !== undefined']],
    suite: SHAPE,
    test: 'toShape what a form begins with is what it shows',
  },
  {
    defence: "Page: a stranger's pattern does not keep a browser busy",
    file: 'web/src/form/to-quick-pattern.ts',
    edits: [['return isSlow ? undefined : pattern', 'return pattern']],
    suite: SHAPE,
    test: 'toShape a valid number can be sent, and no pattern of a stranger keeps the page busy',
  },
  {
    defence: 'Page: JSON in a form is that of the value, also after an item was removed',
    file: 'web/src/form/json-input.tsx',
    edits: [
      [
        'typed?.stands === toText(value) ? typed.text : toText(value)',
        'typed?.text ?? toText(value)',
      ],
    ],
    suite: FORM,
    test: 'SchemaForm an item that takes the place of a removed one is shown with its own JSON',
  },
  {
    defence: 'Page: JSON that is blank or broken does not approve what was asked',
    file: 'web/src/form/json-input.tsx',
    edits: [['area.current?.setCustomValidity(fault)', 'area.current?.setCustomValidity("")']],
    suite: FORM,
    test: 'SchemaForm JSON that is removed or broken is not sent in the form of what was asked',
  },
  {
    defence: 'Page: a field may be called as what every object has',
    file: 'web/src/form/schema-form.tsx',
    edits: [['Object.hasOwn(fields, name) ? fields[name] : undefined', 'fields[name]']],
    suite: FORM,
    test: 'SchemaForm a field may be called as what every object has',
  },
  {
    defence: 'Console: nothing is decided together whose questions are not shown',
    file: 'web/src/console/waiting-view.tsx',
    edits: [
      [
        'import { usePages } from',
        "import { findChoices, WaitingChoice } from './waiting-choice.js';\nimport { usePages } from",
      ],
      [
        '      {waiting.data !== undefined && (\n        <Suspense',
        '      <WaitingChoice choices={findChoices(sessions, new Set())} chosen={new Set()} onChoose={() => undefined} />\n      {waiting.data !== undefined && (\n        <Suspense',
      ],
    ],
    suite: 'test/page/console-many.test.ts',
    test: 'nothing is decided together whose questions cannot be shown, and one alert says so',
  },
  {
    defence: 'Console: a batch has no call whose form was changed',
    file: 'web/src/console/waiting-choice.tsx',
    edits: [['.filter((choice) => !changed.has(keyOf(choice)))', '']],
    suite: 'test/web/waiting-choice.test.ts',
    test: 'a batch has no call whose form a person has changed',
  },
  {
    defence: 'Page: words of sub-agents that write in turn are kept apart',
    file: 'web/src/report-items.ts',
    edits: [['items.findLastIndex(({ agentId }) => agentId === by.agentId)', 'items.length - 1']],
    suite: REPORT,
    test: 'the report of a call keeps the words of agents apart that write in turn',
  },
  {
    defence: 'Page: a withdrawn step takes nothing of other sub-agents with it',
    file: 'web/src/report-items.ts',
    edits: [['item.agentId !== agentId || item.step < step', 'item.step < step']],
    suite: REPORT,
    test: 'the report of a call loses what the withdrawn step of one agent wrote, and nothing else',
  },
  {
    defence: 'Page: what is shown of a call has one bound, however many sub-agents write',
    file: 'web/src/report-items.ts',
    edits: [['if (surplus <= 0) return kept;', 'return kept;']],
    suite: REPORT,
    test: 'the report of a call is bounded as a whole, however many agents write',
  },
  {
    defence: 'Page: a tail finds the call of a conversation for sub-agents of sub-agents',
    file: 'ai-sdk/reply/attach-turn.ts',
    edits: [['above === undefined ? toolCallId : topCallOf(above)', 'toolCallId']],
    suite: 'test/ai-sdk/reply/sub-agents.test.ts',
    test: 'a tail names the call of the conversation for what sub-agents of sub-agents do',
  },
  {
    defence: 'Page: the report of a call is bounded where it is read',
    file: 'ai-sdk/turns/sub-agent-report.ts',
    edits: [['event.delta.slice(-room)', 'event.delta']],
    suite: 'test/ai-sdk/reply/sub-agents.test.ts',
    test: 'the report of a call has what each agent below it wrote, in order and bounded',
  },
  {
    defence: 'Page: a report is of the call that was asked about',
    file: 'ai-sdk/turns/sub-agent-report.ts',
    edits: [['from === parentId && toolCallId === calls[at]', 'record !== undefined']],
    suite: 'test/ai-sdk/reply/sub-agents.test.ts',
    test: 'the report of a call reads the sub-agents of that call alone',
  },
  {
    defence: 'Page: who decided about a call is shown after a reload, whatever was changed',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [['...toCallDecisions(openCalls, view.rows)', '...toCallDecisions(openCalls)']],
    suite: 'test/ai-sdk/reply/decisions.test.ts',
    test: 'a snapshot says who decided about each call, also in turns that are over',
  },
  {
    defence: 'Page: the record names who decided, not the page',
    file: 'web/src/page-store.ts',
    edits: [['decided[toolCallId] = rest', 'decided[toolCallId] ??= rest']],
    suite: 'test/web/shown-decision.test.ts',
    test: 'a decision of this page is shown as such until the record names who it was',
  },
  {
    defence: 'Page: what waits for a colleague is not ready',
    file: 'web/src/page-status.ts',
    edits: [
      ["waitsForColleague(part, pending)) ? 'colleague' : 'ready'", "false) ? 'ready' : 'ready'"],
    ],
    suite: STATUS,
    test: 'pageStatus what only a colleague can answer is no rest, and no question to the one who reads it',
  },
  {
    defence: 'Page: a call that runs is not called writing',
    file: 'web/src/page-status.ts',
    edits: [["if (runningCalls(newest, page.pending).length > 0) return 'working';", '']],
    suite: STATUS,
    test: 'pageStatus a call that is carried out is no writing, until the agent writes again',
  },
  {
    defence: 'Page: an outage of the provider is named',
    file: 'web/src/page-status.ts',
    edits: [['if (page.waitingFor !== undefined) return HELD_UP[page.waitingFor];', '']],
    suite: STATUS,
    test: 'pageStatus a run that cannot write yet says why: provider',
  },
  {
    defence: 'Page: a page learns what the run waits for from each event of the server',
    file: 'web/src/conversation.ts',
    edits: [['      waitingFor: run.waitingFor,\n', '']],
    suite: 'test/web/conversation.test.ts',
    test: 'a conversation a conversation knows what its run waits for while the server says so',
  },
  {
    defence: 'Inbox: a question of a client is answered there with a result',
    file: 'web/src/inbox-question.tsx',
    edits: [['onAnswer({ result });', 'onAnswer({ error: DECLINED });']],
    suite: 'test/page/page-inbox.test.ts',
    test: 'the inbox counts and answers questions of every kind, with changes and with a reason',
  },
  {
    defence: 'Page: on a phone there is room for words beside Stop and Send',
    file: 'web/src/styles/status.css',
    edits: [['    flex-basis: calc(100% - 4rem);\n', '']],
    suite: 'test/page/page-turns.test.ts',
    test: 'a message that waits keeps its lines when it is changed, and Escape leaves it as it was',
  },
  {
    defence: 'Page: a queued message is changed with its lines',
    file: 'web/src/queued-message.tsx',
    edits: [
      ['<textarea\n', '<input\n'],
      ['            rows={2}\n', ''],
    ],
    suite: 'test/page/page-turns.test.ts',
    test: 'a message that waits keeps its lines when it is changed, and Escape leaves it as it was',
  },
  {
    defence: 'Page: the keyboard stays in the list while it is open',
    file: 'web/src/app.tsx',
    edits: [[' inert={isListOpen}', '']],
    suite: 'test/page/page-keyboard.test.ts',
    test: 'the list of conversations takes the focus, keeps it, and gives it back',
  },
  {
    defence: 'Inbox: what is wide breaks, the dialog does not scroll sideways',
    file: 'web/src/styles/lists.css',
    edits: [['  grid-template-columns: minmax(0, 1fr);\n  gap: 0.8rem;', '  gap: 0.8rem;']],
    suite: INBOX,
    test: 'on a phone the inbox is as wide as its dialog, and questions by one tool are no landmarks of one name',
  },
  {
    defence: 'Inbox: questions by one tool are no landmarks of one name',
    file: 'web/src/inbox-question.tsx',
    edits: [['role="group"', 'role="region"']],
    suite: INBOX,
    test: 'on a phone the inbox is as wide as its dialog, and questions by one tool are no landmarks of one name',
  },
];

// What the page does with what people, servers and models get wrong; see mutations.mjs.
const BAD_INPUT = 'test/page/page-bad-input.test.ts';
const MARKDOWN_WALK =
  'Markdown that tries scripts or loads from elsewhere is text, live and after a reload';

const BESIDE = 'what cannot be read beside a conversation says so, and is there after another try';

export const badInput = [
  {
    defence: 'Page: an address that names no conversation is not replaced by a new one',
    file: 'web/src/use-place.ts',
    edits: [['namesSession(location.search)', 'namesSession("")']],
    suite: BAD_INPUT,
    test: 'an address that names no conversation says so, and leads to a new one',
  },
  {
    defence: 'Page: an address of another person has no welcome as of a new conversation',
    file: 'web/src/chat-page.tsx',
    edits: [['isFound={isMade || state.bound}', 'isFound']],
    suite: BAD_INPUT,
    test: 'a conversation of another person shows nothing of it, refuses messages, and another can be begun',
  },
  {
    defence: 'Page: a refusal at the beginning can be tried again',
    file: 'web/src/session-page.tsx',
    edits: [['onClick={loaded.again}', 'onClick={() => undefined}']],
    suite: BAD_INPUT,
    test: 'someone whose sign-in has expired reads so, and can try again',
  },
  {
    defence: 'Page: steps that cannot be read are not reported as missing',
    file: 'web/src/checkpoints-dialog.tsx',
    edits: [
      ["setFault(describeFault(error, 'The list of steps'));", 'void error;\n      setFound([]);'],
    ],
    suite: BAD_INPUT,
    test: BESIDE,
  },
  {
    defence: 'Page: what cannot be read beside a conversation can be read again',
    file: 'web/src/load-fault.tsx',
    edits: [['onClick={onAgain}', 'onClick={() => undefined}']],
    suite: BAD_INPUT,
    test: BESIDE,
  },
  {
    defence: 'Page: it says that it reconnects while the API is away',
    file: 'web/src/use-conversation.ts',
    edits: [["show({ kind: 'loading', reconnecting: !isConnected });", '']],
    suite: BAD_INPUT,
    test: 'the page says that it reconnects while the API is away, and opens when that is back',
  },
  {
    defence: 'Page: a stream that turns to garbage leads to a retry',
    file: 'web/src/failure.ts',
    edits: [["if (error.name === 'Error') return", "if (error.name !== '') return"]],
    suite: BAD_INPUT,
    test: 'a stream that turns to garbage keeps what came, and the reply can be had',
  },
  {
    defence: 'Page: an address that leaves the conversation to the page opens a new one',
    file: 'web/src/session-url.ts',
    edits: [["return new URLSearchParams(search).has('session');", "return search !== '';"]],
    suite: BAD_INPUT,
    test: 'an address that leaves the conversation to the page opens a new one',
  },
  {
    defence: 'Page: a file that is refused can be removed',
    file: 'web/src/attachments.ts',
    edits: [['attachments.filter((each) => each.key !== key)', 'attachments']],
    suite: BAD_INPUT,
    test: 'a file that is too large is refused with its reason, and can be removed',
  },
  {
    defence: 'Page: a line break that a model writes as HTML is one',
    file: 'web/src/markdown.tsx',
    edits: [['remarkBreaks, keepHtmlAsText]', 'remarkBreaks]']],
    suite: 'test/web/markdown.test.ts',
    test: 'Markdown Markdown shows headings, lists, links, tables and code as elements',
  },
  {
    defence: "Page: a model's images load nothing from elsewhere",
    file: 'web/src/markdown-elements.tsx',
    edits: [['  img: ImageLink,\n', '']],
    suite: BAD_INPUT,
    test: MARKDOWN_WALK,
  },
  {
    defence: "Page: a model's links to scripts lead nowhere",
    file: 'web/src/markdown.tsx',
    edits: [["/^(https?:|mailto:|#)/i.test(url) ? url : ''", 'url']],
    suite: 'test/web/markdown.test.ts',
    test: 'Markdown Markdown makes no link of data:text/html,x',
  },
  {
    defence: 'Page: a megabyte in one line is not read as Markdown',
    file: 'web/src/markdown.tsx',
    edits: [['  if (isPlain(text)) return <PlainText text={text} />;\n', '']],
    suite: BAD_INPUT,
    test: 'a megabyte in one line leaves the page quick',
  },
  {
    defence: 'Page: a failed reply can be tried again where it ends',
    file: 'web/src/turn-actions.tsx',
    edits: [['onClick={regenerate}', 'onClick={() => undefined}']],
    suite: 'test/page/page-turns.test.ts',
    test: 'the page repeats a turn, whether it completed or failed',
  },
];

// The defences of the command line; see mutations.mjs.

export const commandLine = [
  {
    defence: 'Command line: a person is erased however many conversations there are',
    file: 'cli/commands/user.ts',
    edits: [['idle = erased.sessions > 0 ? 0 : idle + 1;', 'idle += 1;']],
    suite: 'test/cli/many-runs.test.ts',
    test: 'a person with more conversations than one request erases is erased by as many as it takes',
  },
  {
    defence: 'Command line: spreadsheets compute nothing of what strangers wrote',
    file: 'cli/output/csv.ts',
    edits: [["FORMULA.test(shown) ? `'${shown}` : shown", 'shown']],
    suite: 'test/cli/output.test.ts',
    test: 'texts of strangers spreadsheets compute nothing of them',
  },
  {
    defence: 'Command line: a redirect does not get the token',
    file: 'cli/api/client.ts',
    edits: [["redirect: 'manual',", "redirect: 'follow',"]],
    suite: 'test/cli/api-client.test.ts',
    test: 'the client of the API a redirect is not followed, so that a sign-in page does not get the token',
  },
  {
    defence: 'Command line: a reply that breaks off is no fault of the command line',
    file: 'cli/api/client.ts',
    edits: [['await textOf(response, call?.signal)', 'await response.text()']],
    suite: 'test/cli/api-client.test.ts',
    test: 'the client of the API a reply that breaks off is a server that is away',
  },
  {
    defence: 'Command line: an act on many runs that breaks off says what was done',
    file: 'cli/commands/run/act.ts',
    edits: [['if (isEnd && runIds.length === 1) throw failure;', 'if (isEnd) throw failure;']],
    suite: 'test/cli/many-runs.test.ts',
    test: 'an act on many runs that breaks off says what was done',
  },
  {
    defence: 'Command line: who watches a run does not notice that a server is replaced',
    file: 'cli/api/patient-look.ts',
    edits: [['misses > MOST_MISSES', 'misses > 0']],
    suite: 'test/cli/many-runs.test.ts',
    test: 'who watches a run does not notice that a server is replaced',
  },
  {
    defence: 'Command line: a terminal does not obey texts of strangers',
    file: 'cli/output/output.ts',
    edits: [
      [
        "const text = shownText(String(show(item, shown) ?? '-'));",
        "const text = String(show(item, shown) ?? '-');",
      ],
    ],
    suite: 'test/cli/output.test.ts',
    test: 'texts of strangers a table shows them so',
  },
  {
    defence: 'Command line: a change that was selected by a filter needs a yes',
    file: 'cli/confirm.ts',
    edits: [['if (!terminal.isInteractive) {', 'if (question === undefined) {']],
    suite: 'test/cli/api-client.test.ts',
    test: 'a change that has to be agreed to is not made otherwise',
  },
  {
    defence: 'Command line: an empty filter is refused',
    file: 'cli/parse-values.ts',
    edits: [["if (text.trim() === '') throw", "if (text === '-') throw"]],
    suite: 'test/cli/api-client.test.ts',
    test: 'values on the command line a filter must not be empty',
  },
  {
    defence: 'MCP: tools only read, unless writes are allowed',
    file: 'cli/mcp/tools.ts',
    edits: [
      ['return allowWrites ? [...READS, ...WRITES] : READS;', 'return [...READS, ...WRITES];'],
    ],
    suite: 'test/cli/api-client.test.ts',
    test: 'an agent gets tools that change something only where writes are allowed',
  },
];

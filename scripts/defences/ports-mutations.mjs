// Defences of what listens beside the API, and of how `npm start` runs it.

const ATTACKS = 'test/scripts/start-attacks.test.mjs';
const UI = 'test/scripts/temporal-ui.test.mjs';
const GUARD = 'scripts/temporal-ui/refuse-foreign.mjs';
const START = 'test/scripts/private-start.test.mjs';
const UNTOUCHED = 'npm start no port that pages can reach obeys one or shows it anything';

export const ports = [
  {
    defence: "Ports: the HTTP API of Temporal's dev server is closed",
    file: 'scripts/engines/temporal-server.mjs',
    edits: [[`'frontend.httpAllowedHosts': '["/"]',`, '']],
    suite: ATTACKS,
    test: UNTOUCHED,
  },
  {
    defence: 'Ports: the Temporal UI stands where pages cannot find it',
    file: 'scripts/start/temporal-ui.mjs',
    edits: [["(await ownAddress()) ?? (wanted ? '127.0.0.1' : undefined)", "'127.0.0.1'"]],
    suite: ATTACKS,
    test: UNTOUCHED,
  },
  {
    defence: 'Ports: the Temporal UI has no name but its own',
    file: GUARD,
    edits: [['hosts.length !== 1 || !isOwnName(headers.host, names)', 'hosts.length !== 1']],
    suite: ATTACKS,
    test: UNTOUCHED,
  },
  {
    defence: 'Ports: nor two names at once',
    file: GUARD,
    edits: [['hosts.length !== 1 || ', '']],
    suite: UI,
    test: 'the proxy of the Temporal UI refuses two hosts',
  },
  {
    defence: 'Ports: pages of other origins do not use the Temporal UI',
    file: GUARD,
    edits: [['origin !== undefined && !isOriginOf(headers.host, origin)', 'false']],
    suite: UI,
    test: 'the proxy of the Temporal UI refuses another origin',
  },
  {
    defence: 'Ports: nor do they read from it',
    file: GUARD,
    edits: [['if (!isOwn && !isLink(method, headers))', 'if (false)']],
    suite: UI,
    test: 'the proxy of the Temporal UI refuses a neighbouring port',
  },
  {
    defence: 'Ports: where there is only 127.0.0.1, the Temporal UI is off unless asked for',
    file: 'scripts/start/temporal-ui.mjs',
    edits: [["(wanted ? '127.0.0.1' : undefined)", "'127.0.0.1'"]],
    suite: UI,
    test: 'the Temporal UI itself stands nowhere when it is not wanted, or where there is only 127.0.0.1',
  },
  {
    defence: 'Start: only the pinned dev server is run',
    file: 'scripts/engines/temporal.mjs',
    edits: [['if (found !== program.checksums[SYSTEM])', 'if (false)']],
    suite: 'test/scripts/find-temporal.test.mjs',
    test: 'finding the Temporal dev server a program that is not the pinned one is not even run',
  },
  {
    defence: 'Start: each process has the keys that it needs',
    file: 'scripts/start/secrets.mjs',
    edits: [['(name) => !withheld.test(name)', '() => true']],
    suite: START,
    test: 'each process gets the keys that it needs, and what it writes is private',
  },
  {
    defence: 'Start: engines have no key',
    file: 'scripts/start/secrets.mjs',
    edits: [['(name) => OF_SYSTEM.test(name)', '() => true']],
    suite: START,
    test: 'each process gets the keys that it needs, and what it writes is private',
  },
  {
    defence: 'Start: what engines write is private',
    file: 'scripts/start/private-folder.mjs',
    edits: [['process.umask(0o077)', 'process.umask()']],
    suite: START,
    test: 'each process gets the keys that it needs, and what it writes is private',
  },
  {
    defence: 'Start: a log does not speak to the terminal',
    file: 'scripts/start/log-lines.mjs',
    edits: [["trace.split('\\n').map(toPrintable).join('\\n')", 'trace']],
    suite: 'test/scripts/log-lines.test.mjs',
    test: 'only a stack takes more lines, which are marked as its own',
  },
  {
    defence: 'Start: the log says where an activity broke',
    file: 'scripts/start/log-lines.mjs',
    edits: [['return [message, ...causes].join(CAUSE)', 'return message']],
    suite: 'test/scripts/log-lines.test.mjs',
    test: 'of a failure that Temporal packed, the message and where its causes arose are shown',
  },
  {
    defence: 'Lab: users with accounts do not reach it',
    file: 'examples/lab/served.ts',
    edits: [['setting ?? (!hasAccounts && isLoopback(host))', 'setting ?? isLoopback(host)']],
    suite: 'test/e2e/lab-served.test.ts',
    test: 'the lab agent the lab agent and its sub-agents are not served to users with accounts',
  },
  {
    defence: 'Lab: nor do others than those of this machine',
    file: 'examples/lab/served.ts',
    edits: [['setting ?? (!hasAccounts && isLoopback(host))', 'setting ?? !hasAccounts']],
    suite: 'test/e2e/lab-served.test.ts',
    test: 'the lab agent the lab agent is served without accounts at 0.0.0.0: false',
  },
  {
    defence: 'Logs have no text of a tool’s error',
    file: 'activities/tool/execute-tool.ts',
    edits: [['toErrorTrace(error)', '(error as Error | undefined)?.stack']],
    suite: 'test/activities/tool-log.test.ts',
    test: 'the log of a tool that throws the log of a tool that throws names the call, the error and its place, and none of its text',
  },
  {
    defence: 'Packages: a grave weakness fails the check',
    file: 'scripts/vulnerabilities.mjs',
    edits: [['GRAVE.includes(severity)', 'false']],
    suite: 'test/scripts/supply-chain.test.mjs',
    test: 'the gate of vulnerabilities a vulnerability of high severity closes the gate',
  },
];

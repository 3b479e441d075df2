// Defences of what listens beside the API, and of how `npm start` runs it.

const ATTACKS = 'test/scripts/start-attacks.test.mjs';
const UI = 'test/scripts/temporal-ui.test.mjs';
const GUARD = 'scripts/temporal-ui/refuse-foreign.mjs';
const UNTOUCHED =
  'npm start nothing that listens where pages can find it obeys one or tells it anything';

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
];

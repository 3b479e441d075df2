// The defences around tools of MCP servers; see mutations.mjs.

const servers = 'test/agents/mcp-servers.test.ts';
const http = 'test/agents/mcp-http.test.ts';
const runs = 'test/activities/mcp-tools.test.ts';
const kills = 'test/e2e/kill-agent-parts.test.ts';

export const mcp = [
  {
    defence: 'MCP servers: the first list of tools counts for a run',
    file: 'stores/transitions/pin-tools.ts',
    edits: [
      ['if (pinned !== false) return answer(pinned);', 'if (pinned === "") return answer(pinned);'],
    ],
    suite: 'test/stores/conformance/memory.test.ts',
    test: 'pin tools the first list counts for as long as the run is active',
  },
  {
    defence: 'MCP servers: a tool that is not read-only asks a person',
    file: 'agents/mcp/permissions.ts',
    edits: [["(isReadOnly ? 'run' : 'ask')", "'run'"]],
    suite: runs,
    test: 'tools of servers in a run a tool that may change something asks a person, unless a list says otherwise',
  },
  {
    defence: 'MCP servers: a call that may have been carried out is not repeated',
    file: 'agents/mcp/mcp-connection.ts',
    edits: [['if (isSent && !isRepeatable) throw', 'if (attempt > 9 && !isRepeatable) throw']],
    suite: servers,
    test: 'servers of tools a server that dies in a call that changes something leaves its outcome open',
  },
  {
    defence: 'MCP servers: an answer is bounded before it is read',
    file: 'agents/mcp/guarded-fetch.ts',
    edits: [['if (bytes > LIMITS.mcpMessageBytes) throw tooLarge();', '']],
    suite: servers,
    test: 'servers of tools a result of 50 MB is refused, and the next call works',
  },
  {
    defence: 'MCP servers: a list is bounded',
    file: 'agents/mcp/pinned-tools.ts',
    edits: [['if (tools.length > LIMITS.mcpTools) {', 'if (tools.length > 1e6) {']],
    suite: servers,
    test: 'servers of tools lists that are too long, doubled, endless or no list are refused',
  },
  {
    defence: 'MCP servers: no redirect to another origin',
    file: 'agents/mcp/guarded-fetch.ts',
    edits: [
      [
        'if (status >= 300 && status < 400 && location',
        'if (status >= 400 && status < 300 && location',
      ],
    ],
    suite: servers,
    test: 'servers of tools a redirect to another origin is refused, and the headers stay at home',
  },
  {
    defence: 'MCP servers: signing in leads to public hosts only',
    file: 'agents/mcp/guarded-lookup.ts',
    edits: [['if (!rule.isNamed) return false;', '']],
    suite: servers,
    test: 'servers of tools a server that sends a client to another host for signing in leads it to public hosts only',
  },
  {
    defence: 'MCP servers: errors and logs hold no secrets',
    file: 'agents/mcp/secrets.ts',
    edits: [["rest.replaceAll(value, '***')", 'rest']],
    suite: servers,
    test: 'servers of tools an error of the tool, of the protocol and of the form have their codes, without secrets',
  },
  {
    defence: 'MCP servers: a refusal for want of a token is no lost answer',
    file: 'agents/mcp/guarded-fetch.ts',
    edits: [['status >= 200 && status < 300 ? flight', 'status > 0 ? inFlight.getStore()']],
    suite: http,
    test: 'servers of tools by HTTP a token that expires is renewed, and the call is carried out',
  },
  {
    defence: 'MCP servers: one that asks without end and reads nothing does not fill the memory',
    file: 'agents/mcp/mcp-transport.ts',
    edits: [['unread >= MOST_UNREAD', 'unread < 0']],
    suite: 'test/activities/mcp-results.test.ts',
    test: 'a server of tools that says more than it was asked and asks without end, and reads nothing, is answered up to a number',
  },
  {
    defence: 'MCP servers: answers repeat no id without end',
    file: 'agents/mcp/mcp-transport.ts',
    edits: [[' || isLong', '']],
    suite: 'test/activities/mcp-results.test.ts',
    test: 'a server of tools that says more than it was asked gets no answer to a question whose id is a text without end',
  },
  {
    defence: 'MCP servers: evaluation does not contact them',
    file: 'testing/eval/replayed-agent.ts',
    edits: [
      [
        'const { mcpServers = {}, onStepFinish, onFinish, ...rest } = agent;',
        'const { mcpServers = {}, ...rest } = agent; Object.assign(rest, { mcpServers });',
      ],
    ],
    suite: 'test/testing/eval/servers.test.ts',
    test: 'a recorded case of an agent with servers of tools gets what was recorded, and neither servers nor hooks are called',
  },
  {
    defence: 'MCP servers: what is open for a call ends with it',
    file: 'agents/mcp/mcp-connection.ts',
    edits: [['        over.abort();\n', '']],
    suite: http,
    test: 'servers of tools by HTTP what is open for a call that was stopped is closed',
  },
  {
    defence: 'MCP servers: a worker that takes over does not ask them for their tools again',
    file: 'activities/run-tools.ts',
    edits: [
      [
        "read.kind === 'pinned' ? equip(agent, ref, read",
        "read.kind === 'none' ? equip(agent, ref, read",
      ],
    ],
    suite: kills,
    test: 'a worker that is killed in the shape of steps while servers of tools carry calls out repeats only the one that reads',
  },
  {
    defence: 'MCP servers: a worker that takes over repeats no call that changes something',
    file: 'agents/mcp/to-tool-definition.ts',
    edits: [['idempotent: isIdempotent,', 'idempotent: true,']],
    suite: kills,
    test: 'a worker that is killed in the shape of a leg while servers of tools carry calls out repeats only the one that reads',
  },
  {
    defence: 'MCP servers: the connections of a process are bounded',
    file: 'agents/mcp/places.ts',
    edits: [['while (held.size >= most)', 'while (held.size > most + 9)']],
    suite: http,
    test: 'servers of tools by HTTP no more connections are open than the process may have',
  },
];

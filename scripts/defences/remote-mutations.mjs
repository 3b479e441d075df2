// Defences against an agent server that has turned against the one that delegates to it.

const SUITE = 'test/agents/remote-evil.test.ts';
const TRANSPORT = 'agents/remote/http-remote-agent-transport.ts';
const REPLY = 'agents/remote/remote-reply.ts';
const FORWARDED = 'activities/tool/call-context.ts';

const of = (title) => `what a remote agent server sends ${title}`;

export const remote = [
  {
    defence: 'Remote agents: redirects are not followed',
    file: TRANSPORT,
    edits: [["{ ...init, redirect: 'manual' }", 'init']],
    test: of('a redirect with 307 is not followed'),
  },
  {
    defence: 'Remote agents: a line has an end',
    file: TRANSPORT,
    edits: [['{ maxBufferSize: LIMITS.remoteEventChars }', '']],
    test: of('a call leaves a remote server that sends a line without an end'),
  },
  {
    defence: 'Remote agents: a refusal is read to a limit',
    file: TRANSPORT,
    edits: [['if (bytes > REFUSAL_BYTES) return undefined;', '']],
    test: of('a remote refusal that is long, or has no code, is reported by its status'),
  },
  {
    defence: 'Remote agents: a text has an end',
    file: REPLY,
    edits: [['if (this.#text.length > LIMITS.answerBytes)', 'if (false)']],
    test: of('a remote run is stopped when its answer exceeds the limit'),
  },
  {
    defence: 'Remote agents: what is shown has a limit',
    file: REPLY,
    edits: [['if (this.#bytes > LIMITS.remoteAgentBytes)', 'if (false)']],
    test: of('a remote run is stopped when it shows more than a call may'),
  },
  {
    defence: 'Remote agents: events have a limit',
    file: REPLY,
    edits: [['if (this.#events > LIMITS.remoteAgentEvents)', 'if (false)']],
    test: of('a remote run is stopped when it sends events without end'),
  },
  {
    defence: 'Remote agents: no address runs as a script in the page',
    file: FORWARDED,
    edits: [['!isShownUrl(chunk.type, chunk.url)', 'false']],
    test: of(
      'a page is not shown a remote server’s addresses that run as scripts, or lead to the page itself',
    ),
  },
  {
    defence: "Remote agents: the names of the runtime's events are its own",
    file: FORWARDED,
    edits: [['isReservedEventName(chunk.eventName)', 'false']],
    test: of(
      'a page is not shown a remote server’s events that are named like those of the runtime',
    ),
  },
  {
    defence: 'Remote agents: they speak under their own names',
    file: REPLY,
    edits: [['...speakerOf(chunk, place), ', '']],
    test: of('a remote server that speaks in the name of other agents is shown under its own'),
  },
  {
    defence: "Tools that forward do not speak for the conversation's agents",
    file: FORWARDED,
    edits: [['    checkSpeaker(sessionId, parsed.data);\n', '']],
    test: 'a tool that forwards a tool that forwards cannot write as s of its own conversation',
  },
  {
    defence: 'Sources of a model do not run as scripts in the page',
    file: 'activities/model/step-reply.ts',
    edits: [['!isShownUrl(fields.type, fields.url)', 'false']],
    suite: 'test/activities/bad-model.test.ts',
    test: 'a model that calls tools badly a call that the provider executes is not taken for ours',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));

// Defences against an agent server that has turned against the one that delegates to it.

const SUITE = 'test/agents/remote-evil.test.ts';
const TRANSPORT = 'agents/remote/http-remote-agent-transport.ts';
const REPLY = 'agents/remote/remote-reply.ts';
const FORWARDED = 'activities/tool/call-context.ts';

const of = (name) => `a remote agent server that ${name}`;

export const remote = [
  {
    defence: 'Remote agents: redirects are not followed',
    file: TRANSPORT,
    edits: [["{ ...init, redirect: 'manual' }", 'init']],
    test: of('redirects with 307 is not followed'),
  },
  {
    defence: 'Remote agents: a line has an end',
    file: TRANSPORT,
    edits: [['{ maxBufferSize: LIMITS.remoteEventChars }', '']],
    test: of('sends a line without an end is left'),
  },
  {
    defence: 'Remote agents: a refusal is read to a limit',
    file: TRANSPORT,
    edits: [['if (bytes > REFUSAL_BYTES) return undefined;', '']],
    test: of('refuses at length, or with words that are no code, is refused by its status'),
  },
  {
    defence: 'Remote agents: a text has an end',
    file: REPLY,
    edits: [['if (this.#text.length > LIMITS.answerBytes)', 'if (false)']],
    test: of('says more than an answer may have is stopped'),
  },
  {
    defence: 'Remote agents: what is shown has a limit',
    file: REPLY,
    edits: [['if (this.#bytes > LIMITS.remoteAgentBytes)', 'if (false)']],
    test: of('shows more than a call may is stopped'),
  },
  {
    defence: 'Remote agents: events have a limit',
    file: REPLY,
    edits: [['if (this.#events > LIMITS.remoteAgentEvents)', 'if (false)']],
    test: of('sends events without end is stopped'),
  },
  {
    defence: 'Remote agents: no address runs as a script in the page',
    file: FORWARDED,
    edits: [['!isShownUrl(chunk.type, chunk.url)', 'false']],
    test: of(
      'gives addresses that run as scripts, or lead to the page itself, is shown without them',
    ),
  },
  {
    defence: "Remote agents: the names of the runtime's events are its own",
    file: FORWARDED,
    edits: [['isReservedEventName(chunk.eventName)', 'false']],
    test: of('names its events like those of the runtime is shown without them'),
  },
  {
    defence: 'Remote agents: they speak under their own names',
    file: REPLY,
    edits: [['...speakerOf(chunk, place), ', '']],
    test: of('speaks in the name of other agents is shown under its own'),
  },
  {
    defence: "Tools that forward do not speak for the conversation's agents",
    file: FORWARDED,
    edits: [['    checkSpeaker(sessionId, parsed.data);\n', '']],
    test: 'a tool that forwards cannot speak for s of its own conversation',
  },
  {
    defence: 'Sources of a model do not run as scripts in the page',
    file: 'activities/model/step-reply.ts',
    edits: [['!isShownUrl(fields.type, fields.url)', 'false']],
    suite: 'test/activities/bad-model.test.ts',
    test: 'a model that calls tools badly that its provider carries out is not taken for ours',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));

// The defences of notices; see mutations.mjs.
const POST = 'test/notify/post.test.ts';
const RECEIVERS = 'test/notify/receivers.test.ts';
const MESSAGES = 'test/notify/messages.test.ts';
const SLACK_TAKES = 'what models wrote makes no message that Slack refuses, or makes links of';
const ADDRESS =
  'an address of a private network is refused before anything is sent, unless it is permitted';

const STAY =
  'a run with receivers notices that stay while a tool sleeps and asks as well replay as they went';

const TITLE_OF_ANY = `const any = agents.getRegisteredTypes().flatMap((name) => find(agents, name)?.tools ?? []);
  return known?.title ?? any.find(({ name, title }) => name === tool && title)?.title ?? toWords(tool);`;

export const notices = [
  {
    defence: 'Notices: the link of a question leads colleagues to where they can answer it',
    file: 'notify/place.ts',
    edits: [['`/console/waiting/${shown}`', '`/?session=${shown}`']],
    suite: MESSAGES,
    test: 'the link of a notice leads to the page of the console where its reader can act',
  },
  {
    defence: 'Notices: where there is no console, only a conversation is redirected to',
    file: 'api/serve-pages.ts',
    edits: [['return isSessionId(sessionId) ? sessionId : undefined;', 'return sessionId;']],
    suite: 'test/api/serve-pages.test.ts',
    test: 'without a console, the link of a notice leads to its conversation, and nowhere else',
  },
  {
    defence: 'Audit: a look at what one conversation asks is recorded',
    file: 'api/routes/operator-waiting.ts',
    edits: [['        await recordRead(deps, toActor(call), record);\n', '']],
    suite: 'test/api/waiting-of-one.test.ts',
    test: 'that a colleague has read it is recorded',
  },
  {
    defence: 'Notices: what a mail server refuses for good is a dead letter at once',
    file: 'notify/mail.ts',
    edits: [['status >= 500 && ABOUT_MESSAGE', 'false && ABOUT_MESSAGE']],
    suite: 'test/notify/mail.test.ts',
    test: 'a mail server that refuses RCPT for good is not asked again',
  },
  {
    defence: 'Notices: a login that a mail server refuses is tried again',
    file: 'notify/mail.ts',
    edits: [[' && ABOUT_MESSAGE.includes(code)', '']],
    suite: 'test/notify/mail.test.ts',
    test: 'a mail server that refuses the password is asked again later, perhaps with another',
  },
  {
    defence: 'Notices: what was sent again in vain is one dead letter',
    file: 'executor/deliveries.ts',
    edits: [['            if (seen.has(state.deliveryId)) continue;\n', '']],
    suite: 'test/e2e/notices.test.ts',
    test: 'what is not taken is a dead letter, which the command line lists and sends again',
  },
  {
    defence: 'Notices: what a mail server refuses for now is tried again',
    file: 'notify/mail.ts',
    edits: [['status >= 500', 'status >= 400']],
    suite: 'test/notify/mail.test.ts',
    test: 'a mail server that refuses RCPT for now is asked again later',
  },
  {
    defence: 'Notices: an address that is written out is checked',
    file: 'notify/post.ts',
    edits: [
      ['if (isIP(host) !== 0 && !isPermitted(host, host, rule)) throw refusedAddress();', ''],
    ],
    suite: POST,
    test: ADDRESS,
  },
  {
    defence: 'Notices: the address of a name is checked as it is connected to',
    file: 'notify/post.ts',
    edits: [['lookup: guardedLookup(rule, refusedAddress) as never,', '']],
    suite: POST,
    test: ADDRESS,
  },
  {
    defence: 'Notices: a redirect is not followed, and takes nothing',
    file: 'notify/post.ts',
    edits: [
      ['if (status >= 200 && status < 300) return;', 'if (status >= 200 && status < 400) return;'],
    ],
    suite: POST,
    test: 'a redirect is not followed',
  },
  {
    defence: 'Notices: an answer without end is not read on',
    file: 'notify/post.ts',
    edits: [['if (bytes > ANSWER_BYTES) done();', '']],
    suite: POST,
    test: 'of an answer without end no more than its beginning is read, and its status counts',
  },
  {
    defence: 'Notices: no message is longer than Slack takes',
    file: 'notify/slack.ts',
    edits: [['if (text.length <= MOST_TEXT) return text;', 'if (text !== "") return text;']],
    suite: MESSAGES,
    test: SLACK_TAKES,
  },
  {
    defence: 'Notices: Slack makes no links of what models wrote',
    file: 'notify/slack.ts',
    edits: [[', verbatim: true', '']],
    suite: MESSAGES,
    test: SLACK_TAKES,
  },
  {
    defence: 'Notices: those of a question stay when a sleep beside it ends',
    file: 'workflows/notice-starts.ts',
    edits: [['if (current === undefined || patched(PATCHES.noticesStay)) return;', '']],
    suite: 'test/workflows/recording.test.ts',
    test: STAY,
  },
  {
    defence: 'Notices: a question that is asked later is looked at then',
    file: 'workflows/waiting.ts',
    edits: [['      notices.grow([...waits.calls.keys()]);\n', '']],
    suite: 'test/workflows/recording.test.ts',
    test: STAY,
  },
  {
    defence: 'Notices: each question keeps its own clock',
    file: 'worker/notices/announce.ts',
    edits: [['return [{ ...call, askedAt, done }];', 'return [call];']],
    suite: 'test/worker/notices/announce.test.ts',
    test: 'each question has its own clock, and one that is asked later is notified at once',
  },
  {
    defence: 'Notices: those that an earlier release began restart as they did',
    file: 'workflows/notice-starts.ts',
    edits: [['current === undefined || patched(PATCHES.noticesStay)', 'current !== undefined']],
    suite: 'test/workflows/replay.test.ts',
    test: 'histories of releases v0.2.0-notified-again replays on the workflow code of today',
  },
  {
    defence: 'Notices: attempts that wait for a receiver are bounded',
    file: 'notify/lanes.ts',
    edits: [['if (lane.waiting.length >= limits.waiting) throw busy();', '']],
    suite: POST,
    test: 'a receiver that hangs holds up no other, and too many attempts are sent back',
  },
  {
    defence: 'Notices: a receiver of one tenant gets nothing of another',
    file: 'notify/receivers.ts',
    edits: [['if (receiver.tenant !== undefined && receiver.tenant !== tenant) return false;', '']],
    suite: RECEIVERS,
    test: 'receivers a receiver of one tenant gets nothing of another',
  },
  {
    defence: 'Notices: after an outage only the newest reminder is sent',
    file: 'notify/schedule.ts',
    edits: [['isNewest(point, at) && ', '']],
    suite: 'test/notify/schedule.test.ts',
    test: 'the schedule of a wait after an outage only the newest reminder is due, beside the escalation',
  },
  {
    defence: 'Notices: content mentions no one in Slack',
    file: 'notify/slack.ts',
    edits: [[".replaceAll('<', '&lt;')", '']],
    suite: MESSAGES,
    test: 'a message in Slack has link buttons only, and its content mentions no one',
  },
  {
    defence: 'Notices: a receiver that took nothing is not notified of that',
    file: 'executor/deliveries.ts',
    edits: [['.filter(({ name }) => name !== notice.receiver)', '']],
    suite: 'test/executor/deliveries.test.ts',
    test: 'the receiver that did not take a notice is not notified of it, the others are',
  },
  {
    defence: 'Notices: a question that was answered is not reminded of',
    file: 'worker/notices/announce.ts',
    edits: [
      ['return isQuestion(spec) && row === undefined && decision === undefined;', 'return true;'],
      ['const asked = wanted.filter(asks);', 'const asked = wanted;'],
    ],
    suite: 'test/worker/notices/announce.test.ts',
    test: 'a question that is answered before its reminder sends none, also if the answer is not signalled',
  },
  {
    defence: 'Notices: a spent budget is notified of again if that failed',
    file: 'executor/budgets.ts',
    edits: [['noted.delete(key);', '']],
    suite: 'test/executor/budgets.test.ts',
    test: 'budgets receivers are notified of a budget that is spent, under one id, and again if Temporal was away',
  },
  {
    defence: 'Notices: the doctor connects to no address that deliveries refuse',
    file: 'cli/doctor/look-at-receivers.ts',
    edits: [['if (isIP(host) !== 0 && !isPermitted(host, host, rule)) throw refused();', '']],
    suite: 'test/cli/doctor/look-at-receivers.test.ts',
    test: 'hosts of receivers are connected to, and get nothing; what is wrong is named',
  },
  {
    defence: 'Titles: a tool has no title of an agent that has nothing to do with it',
    file: 'agents/titles.ts',
    edits: [['return known?.title ?? toWords(tool);', TITLE_OF_ANY]],
    suite: 'test/agents/titles.test.ts',
    test: 'agents and tools are named by their titles, and where there are none by their names in words',
  },
  {
    defence: 'Links that decide: a question that has expired is not called answered',
    file: 'api/decide/find-call.ts',
    edits: [['return decision.automatic === true ? expired() : answered();', 'return answered();']],
    suite: 'test/e2e/notices.test.ts',
    test: 'a link whose question has expired decides nothing, and says so',
  },
  {
    defence: "Links that decide: a sub-agent's question that was answered is not called forgotten",
    file: 'api/decide/find-call.ts',
    edits: [
      [
        'await whyClosed(stateStore, runId, toolCallId)',
        'await whyClosed(stateStore, `${sessionId}:1-x`, toolCallId)',
      ],
    ],
    suite: 'test/e2e/notices.test.ts',
    test: 'a question whose time is over, and one of a sub-agent, are notified in both shapes',
  },
  {
    defence: 'Links that decide: what models wrote is text on their page',
    file: 'api/decide/escaped.ts',
    edits: [[".replaceAll('<', '&lt;')", '']],
    suite: MESSAGES,
    test: 'the page of a link shows what models wrote as text',
  },
  {
    defence: 'Links that decide: a token for something else is refused',
    file: 'notify/links.ts',
    edits: [['{ audience: AUDIENCE, algorithms: [ALGORITHM] }', '{ algorithms: [ALGORITHM] }']],
    suite: 'test/notify/links.test.ts',
    test: 'a link that was edited, is over, or is another kind of token is refused',
  },
];

import type { Play } from '../support/fake-runtime.js';
import { untilReady, type StockChat } from '../support/stock-chat.js';

export interface Scenario {
  name: string;
  play: Play;
  /** Answers to approvals, in order of asking: true, false, or false with a reason. */
  answers: (boolean | string)[];
}

/** Turns in all the ways in which they go and end well. */
export const scenarios: Scenario[] = [
  turn('text in one step', [], async (session) => {
    session.step();
    session.say('Hello ', 'world', '');
    session.commit();
    session.end();
  }),
  turn('reasoning, text, streamed arguments and text after a tool', [], async (session) => {
    session.step();
    session.think('first ', 'thought');
    session.think('second thought');
    session.say('Looking ', 'it up.');
    session.model(
      { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' },
      { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{"value"' },
      { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: ':1}' },
    );
    session.say('One moment.');
    session.commit([{ id: 'c1', name: 'echo', input: { value: 1 } }]);
    session.settle('c1', { output: { value: 1 } });
    session.step();
    session.say('Done.');
    session.commit();
    session.end();
  }),
  turn('parallel tools, one fails, one has no output, one is invalid', [], async (session) => {
    session.step();
    session.model(
      { type: 'tool_arg_stream_start', toolCallId: 'c3', toolName: 'echo' },
      { type: 'tool_arg_stream_delta', toolCallId: 'c3', delta: '{bro' },
    );
    session.commit([
      { id: 'c1', name: 'echo' },
      { id: 'c2', name: 'boom' },
      { id: 'c3', name: 'echo', invalid: 'Invalid input', input: {} },
      { id: 'c4', name: 'nope', invalid: 'There is no tool', input: { a: 1 } },
    ]);
    session.settle('c2', { error: 'it broke', errorCode: 'tool_execution_failed' });
    session.settle('c1', { output: undefined });
    session.step();
    session.say('So be it.');
    session.commit();
    session.end();
  }),
  turn('an approved call', [true], async (session, _said, answers) => {
    session.step();
    session.say('May I?');
    session.commit([{ id: 'c1', name: 'charge', kind: 'approval', input: { amount: 5 } }]);
    await answers();
    session.settle('c1', { output: { charged: 5 } });
    session.step();
    session.say('Charged.');
    session.commit();
    session.end();
  }),
  turn('a denied call beside a server tool', ['too much'], async (session, _said, answers) => {
    session.step();
    session.commit([
      { id: 'c1', name: 'echo', input: { value: 1 } },
      { id: 'c2', name: 'charge', kind: 'approval', input: { amount: 5 } },
    ]);
    session.settle('c1', { output: { value: 1 } });
    await answers();
    session.step();
    session.say('Not charged.');
    session.commit();
    session.end();
  }),
  turn(
    'two approvals in one step, then one more, one of them fails',
    [true, false, true],
    async (session, _said, answers) => {
      session.step();
      session.commit([
        { id: 'c1', name: 'charge', kind: 'approval', input: { amount: 1 } },
        { id: 'c2', name: 'charge', kind: 'approval', input: { amount: 2 } },
      ]);
      await answers();
      session.settle('c1', { error: 'card refused', errorCode: 'tool_execution_failed' });
      session.step();
      session.say('Another one.');
      session.commit([{ id: 'c3', name: 'charge', kind: 'approval', input: { amount: 3 } }]);
      await answers();
      session.settle('c3', { output: { charged: 3 } });
      session.step();
      session.say('All done.');
      session.commit();
      session.end();
    },
  ),
  turn('an end right behind a tool', [], async (session) => {
    session.step();
    session.commit([{ id: 'c1', name: 'echo', input: { value: 1 } }]);
    session.settle('c1', { output: { value: 1 } });
    session.end();
  }),
  turn('a step of an empty text', [], async (session) => {
    session.step();
    session.say('');
    session.commit();
    session.end();
  }),
  turn('a stop before the model’s first output', [], async (session) => {
    session.end('interrupted');
  }),
  turn(
    'a stop while the model thinks after an approved call',
    [true],
    async (session, _said, answers) => {
      session.step();
      session.commit([{ id: 'c1', name: 'charge', kind: 'approval', input: { amount: 1 } }]);
      await answers();
      session.settle('c1', { output: { charged: 1 } });
      session.end('interrupted');
    },
  ),
  turn('a stop in the middle of text', [], async (session) => {
    session.step();
    session.think('hm');
    session.say('Half a sen');
    session.commit([], 'interrupt');
    session.end('interrupted');
  }),
  turn('a stop that overtakes streamed arguments', [], async (session) => {
    session.step();
    session.say('Wait');
    session.model(
      { type: 'tool_arg_stream_start', toolCallId: 'c1', toolName: 'echo' },
      { type: 'tool_arg_stream_delta', toolCallId: 'c1', delta: '{"value":' },
    );
    session.commit([{ id: 'c1', name: 'echo', invalid: 'The run was stopped.' }], 'interrupt');
    session.end('interrupted');
  }),
  turn('a silent reply', [], async (session) => {
    session.step();
    session.commit();
    session.end();
  }),
];

/** Turns that fail, early and late. */
export const failures: Scenario[] = [
  turn('before the first word', [], async (session) => {
    session.end('failed');
  }),
  turn('in the middle of text', [], async (session) => {
    session.step();
    session.say('Half a sen');
    session.commit([], 'failure');
    session.end('failed');
  }),
  turn('behind a tool', [], async (session) => {
    session.step();
    session.commit([{ id: 'c1', name: 'echo', input: { value: 1 } }]);
    session.settle('c1', { output: { value: 1 } });
    session.end('failed');
  }),
];

function turn(name: string, answers: Scenario['answers'], play: Play): Scenario {
  return { name, answers, play };
}

/** Answers the first approval that the page shows, and lets the page do what it does then. */
export async function giveAnswer(chat: StockChat, answer: boolean | string): Promise<void> {
  const asked = chat.messages
    .flatMap(({ parts }) => parts)
    .find((part) => 'state' in part && part.state === 'approval-requested');
  const id = asked !== undefined && 'approval' in asked ? asked.approval.id : undefined;
  if (id === undefined) throw new Error('the page shows no approval');
  const reason = typeof answer === 'string' ? { reason: answer } : {};
  await chat.addToolApprovalResponse({ id, approved: answer === true, ...reason });
  await untilReady(chat);
}

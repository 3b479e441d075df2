import type { SubAgentEvent } from '../../ai-sdk/client/index.js';
import {
  addEvent,
  EMPTY,
  MAX_CHARS,
  MAX_ITEMS,
  type Report,
} from '../../web/src/sub-agent-reports.js';

const by = (agentId: string) => ({ callId: 'c1', agentId, agent: 'helper' });
const step = (agentId: string): SubAgentEvent => ({ ...by(agentId), kind: 'step' });
const text = (agentId: string, delta: string): SubAgentEvent => {
  return { ...by(agentId), kind: 'text', delta };
};
const tool = (agentId: string, toolCallId: string): SubAgentEvent => {
  return { ...by(agentId), kind: 'tool', toolCallId, toolName: 'echo', state: 'running' };
};
const report = (...events: SubAgentEvent[]): Report => events.reduce(addEvent, EMPTY);
const textsOf = ({ items }: Report): string[] =>
  items.map((item) => `${item.agentId}: ${item.kind === 'text' ? item.text : item.toolCallId}`);

it('the report of a call keeps the words of agents apart that write in turn', () => {
  const turns = ['One ', 'Two '].flatMap((word) => [text('a', word), text('b', word)]);
  expect(textsOf(report(step('a'), step('b'), ...turns))).toEqual(['a: One Two ', 'b: One Two ']);
  const called = report(
    step('a'),
    text('a', 'x'),
    tool('a', 't1'),
    tool('b', 't1'),
    text('a', 'y'),
  );
  expect(textsOf(called)).toEqual(['a: x', 'a: t1', 'b: t1', 'a: y']);
});

it('the report of a call loses what the withdrawn step of one agent wrote, and nothing else', () => {
  const discarded: SubAgentEvent = { ...by('a'), kind: 'discarded' };
  const before = [step('a'), text('a', 'kept'), step('b'), step('b'), step('a')];
  const written = [text('b', 'other'), text('a', 'lost'), tool('a', 't1')];
  expect(textsOf(report(...before, ...written, discarded, text('a', 'again')))).toEqual([
    'a: kept',
    'b: other',
    'a: again',
  ]);
});

it('the report of a call is bounded as a whole, however many agents write', () => {
  const many = Array.from({ length: MAX_ITEMS + 50 }, (_, at) => tool('a', `t${String(at)}`));
  expect(report(...many).items).toHaveLength(MAX_ITEMS);
  const long = ['a', 'b', 'c'].map((agentId) => text(agentId, agentId.repeat(MAX_CHARS / 2)));
  const { items } = report(...long, text('c', '!'));
  const chars = items.map((item) => (item.kind === 'text' ? item.text.length : 0));
  expect(chars).toEqual([MAX_CHARS / 2 - 1, MAX_CHARS / 2 + 1]);
});

import type { AskedCall, WaitOver } from '../../../../protocol/notices.js';
import type { ToolRow } from '../../../../protocol/rows.js';
import type { OpenCall } from '../../../../store/contract/call-record.js';
import { outcomeOf } from '../../../../extensions/notify/announce.js';

const MINUTE = 60_000;
const LATER = 20 * MINUTE;

const asked = (kind: AskedCall['kind']): AskedCall => ({
  toolCallId: 'c1',
  toolName: 'ask',
  kind,
  deadline: 10 * MINUTE,
});

function found(row: Partial<ToolRow>, onExpiry?: OpenCall['spec']['onExpiry']): OpenCall {
  const call = { toolCallId: 'c1', toolName: 'ask' };
  return {
    spec: { ...call, kind: 'client', input: {}, runId: 's:1-a', step: 1, onExpiry },
    state: 'settled',
    row: { role: 'tool', ...call, ...row },
  };
}

it('what the record says about an answer counts, however long after the deadline it is read', () => {
  const client = asked('client');
  const of = (row: Partial<ToolRow>): string => outcomeOf(client, found(row), undefined, LATER);
  expect(of({ output: 5 })).toBe('answered');
  expect(of({ error: 'No camera.', errorCode: 'client_tool_failed' })).toBe('answered');
  expect(of({ error: 'Late.', errorCode: 'client_tool_timeout' })).toBe('expired');
  expect(of({ error: 'Gone.', errorCode: 'client_tool_abandoned' })).toBe('closed');
  const instead = (output: unknown): string =>
    outcomeOf(client, found({ output }, { result: { n: 1 } }), undefined, LATER);
  expect([instead({ n: 1 }), instead({ n: 2 })]).toEqual(['expired', 'answered']);
});

it('without a record what the run knew counts, by the time at which it knew it', () => {
  const of = (kind: AskedCall['kind'], over?: WaitOver): string =>
    outcomeOf(asked(kind), undefined, over, LATER);
  expect(of('approval', { approved: ['c1'], at: MINUTE })).toBe('approved');
  expect(of('approval', { approved: [], at: MINUTE })).toBe('denied');
  expect(of('client', { approved: [], at: MINUTE })).toBe('answered');
  expect(of('client', { approved: [], at: LATER })).toBe('expired');
  expect(of('approval', { approved: ['c1'] })).toBe('approved');
  expect(of('approval', { stopped: true, at: LATER })).toBe('closed');
  expect(of('approval')).toBe('expired');
});

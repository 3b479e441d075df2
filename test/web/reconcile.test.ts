import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import { reconcile, textOf } from '../../web/src/reconcile.js';

const user = (id: string, text = id): UIMessage => ({
  id,
  role: 'user',
  parts: [{ type: 'text', text }],
});
const agent = (id: string, ...parts: UIMessage['parts']): UIMessage => ({
  id,
  role: 'assistant',
  parts,
});
const call = (id: string) =>
  ({ type: 'dynamic-tool', toolName: 'charge', toolCallId: id, input: {} }) as const;
const asked = (id: string) =>
  ({ ...call(id), state: 'approval-requested', approval: { id: `a-${id}` } }) as const;
const answered = (id: string, approved: boolean) =>
  ({ ...call(id), state: 'approval-responded', approval: { id: `a-${id}`, approved } }) as const;

describe('reconcile', () => {
  it('shows what the server has, not what arrived half', () => {
    const server = [user('u1')];
    const local = [user('u1'), agent('msg-1', { type: 'text', text: 'half' })];
    expect(reconcile(server, local)).toEqual({
      messages: server,
      undelivered: undefined,
      answersKept: false,
    });
  });

  it('finds the message that never arrived', () => {
    const local = [user('u1'), agent('msg-1'), user('u2')];
    expect(reconcile([user('u1'), agent('msg-1')], local).undelivered).toBe(local[2]);
    expect(reconcile([], [user('u1')]).undelivered?.id).toBe('u1');
  });

  it('keeps results of the page that the server still waits for, and no others', () => {
    const server = [user('u1'), agent('msg-1', { ...call('c1'), state: 'input-available' })];
    const result = { ...call('c1'), state: 'output-available', output: 'here' } as const;
    const kept = reconcile(server, [user('u1'), agent('msg-1', result)]);
    expect(kept.answersKept).toBe(true);
    expect(kept.messages.at(-1)?.parts).toEqual([result]);
    const own = [{ ...result, providerExecuted: true }];
    expect(reconcile(server, [user('u1'), agent('msg-1', ...own)]).answersKept).toBe(false);
  });

  it('keeps answers that the server still asks for', () => {
    const server = [user('u1'), agent('msg-1', asked('c1'), asked('c2'))];
    const local = [user('u1'), agent('msg-1', answered('c1', false), asked('c2'))];
    const { messages, answersKept } = reconcile(server, local);
    expect(messages[1]?.parts).toEqual([answered('c1', false), asked('c2')]);
    expect(answersKept).toBe(true);
  });

  it('drops answers to what the server no longer asks', () => {
    const done = { ...call('c1'), state: 'output-available', output: 1 } as const;
    const server = [user('u1'), agent('msg-1', done)];
    const { messages, answersKept } = reconcile(server, [
      user('u1'),
      agent('msg-1', answered('c1', true)),
    ]);
    expect(messages).toEqual(server);
    expect(answersKept).toBe(false);
  });
});

describe('textOf', () => {
  it('joins the texts of a message', () => {
    expect(textOf(agent('m', { type: 'text', text: 'a' }, { type: 'text', text: 'b' }))).toBe(
      'a\nb',
    );
  });
});

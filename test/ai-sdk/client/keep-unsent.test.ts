import type { UIMessage } from 'ai';
import { keepUnsent } from '../../../ai-sdk/client/rebuild-reply.js';

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

describe('the messages of a page that looks at the server', () => {
  it("a refresh shows the server's messages instead of half-received ones", () => {
    const server = [user('u1')];
    const local = [user('u1'), agent('msg-1', { type: 'text', text: 'half' })];
    expect(keepUnsent(server, local)).toEqual(server);
  });

  it('a refresh keeps a message that never arrived, and none that did', () => {
    const unsent = user('u2');
    const server = [user('u1'), agent('msg-1')];
    expect(keepUnsent(server, [...server, unsent])).toEqual([...server, unsent]);
    expect(keepUnsent([], [user('u1')])).toEqual([user('u1')]);
    expect(keepUnsent([...server, unsent], [...server, unsent])).toEqual([...server, unsent]);
  });

  it('a refresh keeps results of the page that the server still waits for, and no others', () => {
    const server = [user('u1'), agent('msg-1', { ...call('c1'), state: 'input-available' })];
    const result = { ...call('c1'), state: 'output-available', output: 'here' } as const;
    const kept = keepUnsent(server, [user('u1'), agent('msg-1', result)]);
    expect(kept.at(-1)?.parts).toEqual([result]);
    const own = { ...result, providerExecuted: true };
    expect(keepUnsent(server, [user('u1'), agent('msg-1', own)])).toEqual(server);
  });

  it('a refresh keeps answers that the server still asks for', () => {
    const server = [user('u1'), agent('msg-1', asked('c1'), asked('c2'))];
    const local = [user('u1'), agent('msg-1', answered('c1', false), asked('c2'))];
    for (const unsent of [[], [user('u2')]]) {
      expect(keepUnsent(server, [...local, ...unsent])).toEqual([...local, ...unsent]);
    }
  });

  it('a refresh drops answers to calls that the server no longer asks about', () => {
    const done = { ...call('c1'), state: 'output-available', output: 1 } as const;
    const server = [user('u1'), agent('msg-1', done)];
    const local = [user('u1'), agent('msg-1', answered('c1', true))];
    expect(keepUnsent(server, local)).toEqual(server);
  });
});

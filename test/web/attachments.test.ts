import type { FileUIPart, UIMessage } from 'ai';
import { Attachments } from '../../web/src/attachments.js';
import { PageStore } from '../../web/src/page-store.js';
import { eventually } from './eventually.js';

/** Files attach to a message that a person is writing. */

const limits = { maxBytes: 3_000_000, types: ['image/*', 'text/plain'] };
const file = (bytes: number, type: string, name = 'a b.png'): File =>
  new File([new Uint8Array(bytes)], name, { type });

type Answer = (url: string, init: RequestInit | undefined) => Response | Promise<Response>;

function compose(answer: Answer, taken: typeof limits | undefined = limits) {
  const page = new PageStore({ agent: 'lab' });
  const sent: string[] = [];
  const send = async (input: unknown, init?: RequestInit): Promise<Response> => {
    sent.push(`${init?.method ?? 'GET'} ${String(input)}`);
    return answer(String(input), init);
  };
  const deps = { sessionId: 's1', page, send: send as typeof fetch, limits: taken };
  return { page, sent, attachments: new Attachments(deps) };
}

const stored = (url: string, filename: string): object => ({
  type: 'file',
  url,
  mediaType: 'image/png',
  filename,
  id: 'x',
  bytes: 5,
});
const part: FileUIPart = {
  type: 'file',
  mediaType: 'image/png',
  filename: 'a b.png',
  url: '/api/chat/s1/files/0123456789abcdef',
};
const accept: Answer = (_, init) =>
  init?.method === 'DELETE'
    ? new Response(null, { status: 204 })
    : Response.json(stored(part.url, 'a b.png'), { status: 201 });

describe('files of a message', () => {
  it('are stored as they are added, and sent as the server names them', async () => {
    const signals: unknown[] = [];
    const { page, sent, attachments } = compose((url, init) => {
      signals.push(init?.signal);
      return accept(url, init);
    });
    attachments.add([file(limits.maxBytes, 'image/png')]);
    expect(page.get().attachments).toMatchObject([{ name: 'a b.png' }]);
    await eventually(() => page.get().attachments[0]?.part !== undefined);
    expect(sent).toEqual(['POST /api/chat/s1/files?filename=a%20b.png']);
    // The page gives up a server that falls silent.
    expect(signals).toEqual([expect.any(AbortSignal)]);
    expect(attachments.take()).toEqual([part]);
    expect(page.get().attachments).toEqual([]);
  });

  it.each([
    ['too large', file(3_000_001, 'image/png'), 'Too large: files may have up to 2 MB.'],
    ['of another kind', file(5, 'application/zip'), 'Files of this kind are not taken.'],
    ['empty', file(0, 'image/png'), 'The file is empty.'],
  ])('one that is %s is explained without asking the server', (_, added, fault) => {
    const { page, sent, attachments } = compose(accept);
    attachments.add([added]);
    expect(page.get().attachments).toMatchObject([{ fault }]);
    expect(sent).toEqual([]);
  });

  it('what the server declines is shown in its words, and can be removed', async () => {
    const declined = { error: 'There is no room.', code: 'quota_exceeded' };
    const { page, attachments } = compose(() => Response.json(declined, { status: 429 }));
    attachments.add([file(5, 'image/png')]);
    await eventually(() => page.get().attachments[0]?.fault === 'There is no room.');
    attachments.remove(page.get().attachments[0]?.key ?? '');
    expect(page.get().attachments).toEqual([]);
  });

  it('one that is removed while it is being sent is removed from the server', async () => {
    let arrive: (response: Response) => void = () => undefined;
    const arrival = new Promise<Response>((resolve) => (arrive = resolve));
    const { page, sent, attachments } = compose((url, init) =>
      init?.method === 'POST' ? arrival : accept(url, init),
    );
    attachments.add([file(5, 'image/png')]);
    attachments.remove(page.get().attachments[0]?.key ?? '');
    arrive(Response.json(stored(part.url, 'a b.png'), { status: 201 }));
    await eventually(() => sent.includes(`DELETE ${part.url}`));
  });

  it('those of a message that was declined come back', () => {
    const { page, attachments } = compose(accept);
    const data = { type: 'file', url: 'data:,x', mediaType: 'text/plain' } as const;
    const parts: UIMessage['parts'] = [part, data, { type: 'text', text: 'Look' }];
    attachments.giveBack(parts);
    expect(page.get().attachments).toMatchObject([{ name: 'a b.png', part }]);
  });
});

import { useConversationList } from '../../web/src/side-bar.js';
import { renderHook, untilShown } from '../support/render-hook.js';
import { until } from '../support/until.js';

const fetchOfNode = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = fetchOfNode;
});

const page = (sessionId: string, cursor?: string): Response =>
  Response.json({ conversations: [{ sessionId }], cursor });

describe('the list of conversations', () =>
  it('leaves out a page of a search that came after the next search', async () => {
    let answerLate: (response: Response) => void = () => undefined;
    const late = new Promise<Response>((resolve) => (answerLate = resolve));
    let isAsked = false as boolean;
    // This fetch ignores the signal: a reply may be on its way already.
    globalThis.fetch = ((url: string) => {
      const query = new URL(url, 'http://page.test').searchParams;
      if (query.get('cursor') === 'tea-2') {
        isAsked = true;
        return late;
      }
      return Promise.resolve(query.get('q') === 'tea' ? page('t1', 'tea-2') : page('c1', 'cup-2'));
    }) as typeof fetch;
    const hook = renderHook(({ search }) => useConversationList(search, 0), { search: 'tea' });
    await untilShown(hook);
    const shown = (): string | undefined =>
      hook.current.conversations?.map(({ sessionId }) => sessionId).join();
    await until('tea is listed', () => shown() === 't1');
    hook.current.loadMore?.();
    await until('more of tea is asked for', () => isAsked);
    hook.render({ search: 'cup' });
    await until('cup is listed', () => shown() === 'c1');
    answerLate(page('t2', 'tea-3'));
    await late;
    // The next render holds everything that has arrived.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const before = hook.current;
    hook.render({ search: 'cup' });
    await until('it is rendered again', () => hook.current !== before);
    expect(shown()).toBe('c1');
    hook.unmount();
  }));

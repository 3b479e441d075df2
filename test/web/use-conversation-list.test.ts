import { useLoaded } from '../../web/src/load-fault.js';
import { useConversationList } from '../../web/src/side-bar.js';
import { renderHook, untilShown } from '../support/render-hook.js';
import { until } from '../support/until.js';

const fetchOfNode = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = fetchOfNode;
});

const page = (sessionId: string, cursor?: string): Response =>
  Response.json({ conversations: [{ sessionId }], cursor });

describe('the list of conversations', () => {
  it('leaves out a page of a search that came after the next search', async () => {
    let answerLate: (response: Response) => void = () => undefined;
    const late = new Promise<Response>((resolve) => (answerLate = resolve));
    let isAsked = false as boolean;
    // This fetch ignores the signal: a reply may be on its way already.
    globalThis.fetch = ((url: string) => {
      const query = new URL(url, 'http://page.test').searchParams;
      if (query.get('limit') === '60') {
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
  });

  it.each([
    {
      what: 'is read again in one request, whatever was opened',
      found: (limit: number) => limit,
      more: [['60'], ['90'], ['100', '20 next']],
      again: ['90'],
    },
    {
      what: 'follows the cursor where a request finds less than a page',
      found: () => 1,
      more: [
        ['60', '59 next'],
        ['90', '89 next', '88 next'],
      ],
      again: ['90', '89 next', '88 next'],
    },
  ])('$what', async ({ found, more, again }) => {
    const asked: string[] = [];
    let last = 0;
    globalThis.fetch = ((url: string) => {
      const query = new URL(url, 'http://page.test').searchParams;
      const limit = Number(query.get('limit'));
      asked.push(`${String(limit)} ${query.get('cursor') ?? ''}`.trim());
      const conversations = Array.from({ length: found(limit) }, () => ({
        sessionId: `c${String((last += 1))}`,
      }));
      return Promise.resolve(Response.json({ conversations, cursor: 'next' }));
    }) as typeof fetch;
    const hook = renderHook(({ version }) => useConversationList('', version), { version: 0 });
    const untilAsked = async (requests: string[]): Promise<void> => {
      const isShown = (): boolean =>
        asked.length >= requests.length &&
        hook.current.conversations?.at(-1)?.sessionId === `c${String(last)}`;
      await until(`what ${requests.join()} found is shown`, isShown);
      expect(asked.splice(0)).toEqual(requests);
    };
    await untilShown(hook);
    await untilAsked(['30']);
    for (const requests of more) {
      hook.current.loadMore?.();
      await untilAsked(requests);
    }
    hook.render({ version: 1 });
    await untilAsked(again);
    hook.unmount();
  });
});

it('a load that an earlier render began reads what is wanted now', async () => {
  let calls = 0;
  const createRead = (name: string) => async (): Promise<string> => {
    calls += 1;
    return `${name} ${String(calls)}`;
  };
  const [first, second] = [createRead('first'), createRead('second')];
  const hook = renderHook(({ read }) => useLoaded(read, 'It'), { read: first });
  await untilShown(hook);
  await until('the first is shown', () => hook.current.found === 'first 1');
  const { load } = hook.current;
  hook.render({ read: second });
  await until('the second is shown', () => hook.current.found === 'second 2');
  await load();
  await until('the second is shown again', () => hook.current.found === 'second 3');
  hook.unmount();
});

it('a reply to an earlier load is dropped when it comes after the reply to a later one', async () => {
  const answers: ((what: string) => void)[] = [];
  const read = (): Promise<string> => new Promise((resolve) => answers.push(resolve));
  const hook = renderHook(() => useLoaded(read, 'It'), undefined);
  await untilShown(hook);
  await until('it is asked for', () => answers.length === 1);
  const again = hook.current.load();
  answers[1]?.('new');
  await again;
  answers[0]?.('old');
  await until('the newest is shown', () => hook.current.found !== undefined);
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(hook.current.found).toBe('new');
  hook.unmount();
});

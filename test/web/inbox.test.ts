import { loadWaiting } from '../../web/src/inbox-dialog.js';

/** Three replies; `b` moved to the second one while the inbox was reading. */
const PAGES: Record<string, { ids: string[]; next?: string }> = {
  '': { ids: ['a', 'b'], next: 'two' },
  two: { ids: ['b', 'c'], next: 'three' },
  three: { ids: ['d'] },
};

const limits: (string | null)[] = [];
beforeEach(() => void limits.splice(0));

const send = ((url: string) => {
  const query = new URL(url, 'http://page.test').searchParams;
  limits.push(query.get('limit'));
  const cursor = query.get('cursor') ?? '';
  const { ids = [], next } = PAGES[cursor] ?? {};
  return Promise.resolve(
    Response.json({ sessions: ids.map((sessionId) => ({ sessionId })), cursor: next }),
  );
}) as typeof fetch;

it.each([
  [1, '50', 'a,b', true],
  [2, '100,98', 'a,b,c', true],
  [3, '100,100,100', 'a,b,c,d', false],
  [8, '100,100,100', 'a,b,c,d', false],
])(
  '%d pages of what waits are asked for in requests of %s, and one list that says whether there is more',
  async (pages, asked, ids, more) => {
    const { sessions, hasMore } = await loadWaiting(pages, send);
    expect([sessions.map(({ sessionId }) => sessionId).join(), hasMore]).toEqual([ids, more]);
    expect(limits.join()).toBe(asked);
  },
);

it('a list that the server declines is its refusal, in its words', async () => {
  const problem = { error: 'You are not signed in.', code: 'unauthorized' };
  const declines = (() =>
    Promise.resolve(Response.json(problem, { status: 401 }))) as unknown as typeof fetch;
  await expect(loadWaiting(1, declines)).rejects.toMatchObject({
    message: problem.error,
    statusCode: 401,
    code: problem.code,
  });
});

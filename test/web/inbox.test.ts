import { loadWaiting } from '../../web/src/inbox-dialog.js';

/** Three pages; `b` moved to the second one while the inbox was reading. */
const PAGES: Record<string, { ids: string[]; next?: string }> = {
  '': { ids: ['a', 'b'], next: 'two' },
  two: { ids: ['b', 'c'], next: 'three' },
  three: { ids: ['d'] },
};

const send = ((url: string) => {
  const cursor = new URL(url, 'http://page.test').searchParams.get('cursor') ?? '';
  const { ids = [], next } = PAGES[cursor] ?? {};
  return Promise.resolve(
    Response.json({ sessions: ids.map((sessionId) => ({ sessionId })), cursor: next }),
  );
}) as typeof fetch;

it.each([
  [1, 'a,b', true],
  [2, 'a,b,c', true],
  [3, 'a,b,c,d', false],
  [4, 'a,b,c,d', false],
])(
  '%d pages of what waits are one list that says whether there is more',
  async (pages, ids, more) => {
    const { sessions, hasMore } = await loadWaiting(pages, send);
    expect([sessions.map(({ sessionId }) => sessionId).join(), hasMore]).toEqual([ids, more]);
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

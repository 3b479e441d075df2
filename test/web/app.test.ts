import { createElement } from 'react';
import { App } from '../../web/src/app.js';
import { openDocument } from '../support/open-document.js';
import { openPage, type OpenPage } from '../support/render-page.js';
import { until } from '../support/until.js';
import { snapshot } from './wire-server.js';

const fetchOfNode = globalThis.fetch;
const UNREACHABLE = (): Response => {
  throw new TypeError('Failed to fetch');
};
let page: OpenPage;
/** Paths whose requests fail. */
let faulty: RegExp | undefined;
let fault: () => Response;
let isAnswered: boolean;

beforeEach(() => {
  // Browsers make UUIDs on secure pages only.
  jest.spyOn(crypto, 'randomUUID').mockImplementation(() => {
    throw new TypeError('crypto.randomUUID is not a function');
  });
  faulty = undefined;
  fault = UNREACHABLE;
  isAnswered = false;
  const message = (role: 'user' | 'assistant') => ({
    id: role,
    role,
    parts: [{ type: 'text' as const, text: 'Hello' }],
  });
  const pending = {
    toolCallId: 'c1',
    toolName: 'charge',
    kind: 'approval',
    mayDecide: true,
    input: { amount: 5 },
    approvalId: 'a1',
    inputHash: 'h',
  };
  const asking = { sessionId: 's2', title: 'Two', agent: 'lab', since: 0, pending: [pending] };
  const replies: Record<string, () => object> = {
    snapshot: () => snapshot('ended', [message('user'), message('assistant')]),
    config: () => ({ agents: ['lab', 'guide'], cards: [], roles: [], separateApprovers: true }),
    sessions: () => ({ sessions: isAnswered ? [] : [asking] }),
    checkpoints: () => ({ checkpoints: [{ id: 'cp1', text: 'Hello', timestamp: 0 }] }),
    conversations: () => ({
      conversations: [{ sessionId: 's1', title: 'Tea', updatedAt: 0, waiting: 0 }],
    }),
    c1: () => {
      isAnswered = true;
      return {};
    },
  };
  globalThis.fetch = (async (input: string | Request) => {
    const { pathname } = new URL(typeof input === 'string' ? input : input.url, location.href);
    if (faulty?.test(pathname) === true) return fault();
    const reply = replies[pathname.split('/').at(-1) ?? ''];
    return reply === undefined ? new Response(null, { status: 204 }) : Response.json(reply());
  }) as typeof fetch;
});
afterEach(() => {
  page.close();
  globalThis.fetch = fetchOfNode;
});

function openAt(search: string): void {
  openDocument().history.replaceState(null, '', `/${search}`);
  page = openPage();
  page.show(createElement(App));
}

const statusOf = (): string | null | undefined =>
  openDocument().document.querySelector('[data-testid=status]')?.getAttribute('data-status');
const untilReady = (): Promise<unknown> => until('it is ready', () => statusOf() === 'ready');
const session = (): string | null => new URLSearchParams(location.search).get('session');

it.each([
  ['the API is away', /./],
  ['its settings cannot be read', /config$/],
])('the page says that it reconnects while %s, and opens when that is back', async (_, paths) => {
  faulty = paths;
  openAt('?session=s1&agent=lab');
  await until('it says so', () => statusOf() === 'reconnecting');
  faulty = undefined;
  await untilReady();
});

it('someone whose sign-in has expired reads so, and can try again', async () => {
  const problem = { error: 'You are not signed in.', code: 'unauthorized' };
  faulty = /./;
  fault = () => Response.json(problem, { status: 401 });
  openAt('?session=s1&agent=lab');
  await until('it says why', () => page.textOf('error-line')?.includes(problem.error));
  faulty = undefined;
  page.click('try-again');
  await untilReady();
});

it('an address that names no conversation says so and leads to a new one, as one does that leaves it to the page', async () => {
  openAt('?session=%E0%A4%A&agent=guide');
  expect(page.count('no-conversation')).toBe(1);
  expect(location.search).toBe('?session=%E0%A4%A&agent=guide');
  page.click('begin-new-chat');
  await untilReady();
  expect(session()).toMatch(/^[\da-f]{32}$/);
  expect(new URLSearchParams(location.search).get('agent')).toBe('guide');
  page.close();
  // A link may leave the conversation to the page.
  openAt('?&&==#<script>');
  await untilReady();
  expect(session()).toMatch(/^[\da-f]{32}$/);
});

describe('what cannot be read beside a conversation says so, and is there after another try:', () => {
  beforeEach(async () => {
    openAt('?session=s1&agent=lab');
    await untilReady();
  });
  const untilSaid = (sentence: string): Promise<unknown> =>
    until(sentence, () => page.textOf('load-fault') === sentence);

  it.each([
    ['conversations', 'The list could not be read.', 'side-conversation'],
    ['checkpoints', 'The list of steps cannot be reached at the moment.', 'branch-from'],
    ['sessions', 'The inbox cannot be reached at the moment.', 'inbox-session'],
  ])('%s', async (path, sentence, what) => {
    faulty = new RegExp(`/${path}$`);
    if (path === 'conversations') page.type('side-search', 'charge');
    else page.click(path === 'sessions' ? 'inbox' : 'branch');
    await untilSaid(`${sentence}Try again`);
    expect(document.querySelector('dialog')?.textContent ?? '').not.toMatch(
      /no step|Nothing does|Loading/,
    );
    faulty = undefined;
    page.click('load-again');
    await until('it is there', () => page.count('load-fault') === 0 && page.count(what) === 1);
  });

  it('an answer in the inbox', async () => {
    page.click('inbox');
    await until('it is asked', () => page.count('approve') === 1);
    faulty = /\/pending\//;
    page.click('approve');
    await untilSaid('The answer was not taken: the server cannot be reached at the moment.');
    faulty = undefined;
    await until('it can be given', () => page.isEnabled('approve'));
    page.click('approve');
    await until('it is taken', () => page.count('inbox-empty') === 1);
  });
});

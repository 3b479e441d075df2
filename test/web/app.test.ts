import { createElement } from 'react';
import { App } from '../../web/src/app.js';
import { openDocument } from '../support/open-document.js';
import { openPage, type OpenPage } from '../support/render-page.js';
import { until } from '../support/until.js';
import { snapshot } from './wire-server.js';

const fetchOfNode = globalThis.fetch;
let page: OpenPage;
let isFaulty: boolean;
/** What the server answers while it is faulty. */
let fault: () => Response;

beforeEach(() => {
  isFaulty = true;
  const replies: Record<string, object> = {
    snapshot: snapshot('ended', []),
    config: {
      ...{ agents: ['lab'], defaultAgent: 'lab', cards: [], roles: [], files: undefined },
      separateApprovers: true,
    },
    sessions: { sessions: [] },
    conversations: { conversations: [{ sessionId: 's1', title: 'Tea', updatedAt: 0, waiting: 0 }] },
  };
  globalThis.fetch = (async (input: string | Request) => {
    const { pathname } = new URL(typeof input === 'string' ? input : input.url, location.href);
    if (isFaulty) return fault();
    const reply = replies[pathname.split('/').at(-1) ?? ''];
    return reply === undefined ? new Response(null, { status: 204 }) : Response.json(reply);
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

it('the page says that it reconnects while the API is away, and opens when that is back', async () => {
  fault = () => {
    throw new TypeError('Failed to fetch');
  };
  openAt('?session=s1&agent=lab');
  await until('it says so', () => statusOf() === 'reconnecting');
  isFaulty = false;
  await untilReady();
});

it('someone whose sign-in has expired reads so, and can try again', async () => {
  const problem = { error: 'You are not signed in.', code: 'unauthorized' };
  fault = () => Response.json(problem, { status: 401 });
  openAt('?session=s1&agent=lab');
  await until('it says why', () => page.textOf('error-line')?.includes(problem.error));
  isFaulty = false;
  page.click('try-again');
  await untilReady();
});

it('an address that names no conversation says so and leads to a new one, as one does that leaves it to the page', async () => {
  isFaulty = false;
  openAt('?session=%E0%A4%A&agent=lab');
  expect(page.count('no-conversation')).toBe(1);
  expect(location.search).toBe('?session=%E0%A4%A&agent=lab');
  page.click('begin-new-chat');
  await untilReady();
  expect(session()).toMatch(/^[\w-]{36}$/);
  page.close();
  // A link may leave the conversation to the page.
  openAt('?&&==#<script>');
  await untilReady();
  expect(session()).toMatch(/^[\w-]{36}$/);
});

it('a list of conversations that cannot be read says so, and is there after another try', async () => {
  isFaulty = false;
  openAt('?session=s1&agent=lab');
  await untilReady();
  await until('the list is read', () => page.count('side-conversation') === 1);
  isFaulty = true;
  fault = () => {
    throw new TypeError('Failed to fetch');
  };
  page.type('side-search', 'charge');
  await until('it says so', () =>
    page.textOf('load-fault')?.includes('The list could not be read.'),
  );
  isFaulty = false;
  page.click('load-again');
  await until('it is there', () => page.count('load-fault') === 0);
});

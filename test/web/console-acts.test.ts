import { QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import type { OperatorRuns } from '../../protocol/operator.js';
import type { RunStatus } from '../../protocol/run.js';
import type { PageConfig } from '../../web/src/api-client.js';
import { AuditTrail } from '../../web/src/console/audit-trail.js';
import { ConfirmDialog } from '../../web/src/console/confirm-dialog.js';
import { ManyDialog, type Target } from '../../web/src/console/many-dialog.js';
import { createQueries } from '../../web/src/console/queries.js';
import { RunsView } from '../../web/src/console/runs-view.js';
import { WaitingQuestion } from '../../web/src/console/waiting-question.js';
import { openPage, type OpenPage } from '../support/render-page.js';
import { until } from '../support/until.js';

/** Acts on many runs or calls of the console, on a scripted server. */
interface Asked {
  url: URL;
  key: string | null;
}

const fetchOfNode = globalThis.fetch;
const queries = createQueries();
let page: OpenPage;
let answer: (asked: Asked) => Response;

beforeEach(() => {
  page = openPage();
  globalThis.fetch = (async (input: string, init: RequestInit = {}) =>
    answer({
      url: new URL(input, 'http://page.test'),
      key: new Headers(init.headers).get('idempotency-key'),
    })) as typeof fetch;
});
afterEach(() => {
  page.close();
  queries.clear();
  globalThis.fetch = fetchOfNode;
});

const show = (element: ReactElement): void =>
  page.show(createElement(QueryClientProvider, { client: queries }, element));

function showRuns(settings: Record<string, string> = {}): Promise<unknown> {
  const config = { agents: ['lab'], cards: [], roles: ['operator'] } as unknown as PageConfig;
  show(createElement(RunsView, { place: { view: 'runs', settings }, config }));
  return until('they are listed', () => page.count('run-row') > 0);
}

const run = (sessionId: string, status: RunStatus) => ({
  runId: `${sessionId}:1-x`,
  sessionId,
  agent: 'lab',
  owner: 'ann',
  startedAt: 1,
  status,
});

const refusal = (status: number, code: string): Response =>
  Response.json({ error: 'No.', code }, { status });

const isOver = (): boolean =>
  page.textOf('many')?.includes('failed.') === true && page.count('end-many') === 0;

it('of many runs only the page that is shown is read, and an act on all is about those beyond it', async () => {
  const asked: string[] = [];
  answer = ({ url: { searchParams } }) => {
    const [from, limit] = ['cursor', 'limit'].map((name) => Number(searchParams.get(name))) as [
      number,
      number,
    ];
    asked.push(`${String(from)}+${String(limit)}`);
    const runs = Array.from({ length: Math.min(limit, 250 - from) }, (_, n) =>
      run(`many-${String(from + n)}`, 'running'),
    );
    const rest = from + limit < 250 ? { cursor: String(from + limit) } : {};
    return Response.json({ runs, ...rest } satisfies OperatorRuns);
  };
  await showRuns({ status: 'running' });
  const untilFirst = (at: number): Promise<unknown> =>
    until(`run ${String(at)} is first`, () =>
      page.textOf('run-row')?.includes(`many-${String(at)}:1-x`),
    );
  await untilFirst(0);
  for (const first of [25, 50]) {
    page.click('next');
    // The next page has not arrived yet, so this click leads nowhere.
    page.click('next');
    await untilFirst(first);
    expect(page.count('run-row')).toBe(25);
  }
  page.click('previous');
  await untilFirst(25);
  expect(new Set(asked)).toEqual(new Set(['0+25', '25+25', '50+25']));
  page.click('stop-all');
  await until('they are counted', () => page.textOf('plan')?.includes('This is about 250 runs.'));
});

it('of the runs that are chosen an act is about those that it suits, and is sent again as the same request', async () => {
  const keys: (string | null)[] = [];
  answer = ({ url, key }) => {
    if (!url.pathname.endsWith('/stop')) {
      const runs = (['completed', 'failed', 'running'] as const).map((each) => run(each, each));
      return Response.json({ runs } satisfies OperatorRuns);
    }
    keys.push(key);
    if (keys.length === 1) throw new TypeError('Failed to fetch');
    if (keys.length === 2) return refusal(409, 'idempotency_conflict');
    return Response.json({ result: 'nothing' });
  };
  await showRuns();
  page.click('choose-page');
  page.click('retry-chosen');
  await until('it is planned', () => page.textOf('plan')?.includes('This is about 1 run.'));
  expect(page.textOf('plan')).toContain('failed:1-x');
  document.querySelector('dialog')?.close();
  await until('it is closed', () => page.count('plan') === 0);
  page.click('choose-page');
  page.click('stop-chosen');
  await until('it is planned', () => page.textOf('plan')?.includes('running:1-x'));
  page.click('confirm');
  await until('it is over', isOver);
  expect(page.textOf('many')).toBe('0 of 1 done, 1 skipped, 0 failed.');
  expect(keys).toEqual([expect.any(String), keys[0], keys[0]]);
});

it('calls that could not be decided are named, and those behind a server that is away are left', async () => {
  const targets = [1, 2, 3, 4, 5, 6, 7, 8].map((n): Target => ({
    runId: `s${String(n)}:1-x`,
    sessionId: `s${String(n)}`,
    toolCallId: 'c1',
  }));
  let decided = 0;
  answer = ({ url: { pathname } }) => {
    if (pathname.includes('/s1/')) return refusal(403, 'not_allowed');
    // A quota is a limit that does not pass with time.
    if (pathname.includes('/s2/')) return refusal(429, 'quota_exceeded');
    if (pathname.includes('/s3/')) throw new TypeError('Failed to fetch');
    decided += 1;
    return Response.json({ result: 'done' });
  };
  show(createElement(ManyDialog, { act: 'approve', of: { targets }, onClose: () => undefined }));
  await until('it is planned', () => page.textOf('plan')?.includes('This is about 8 calls.'));
  page.click('confirm');
  await until('it is over', isOver);
  expect(page.textOf('many-problems')).toMatch(
    /s1.*not yours to decide.*s2.*quota exceeded.*s3.*the server did not answer/,
  );
  expect(decided).toBeLessThan(5);
  expect(page.textOf('many')).toBe(
    `${String(decided)} of 8 done, 0 skipped, 3 failed. ${String(5 - decided)} are left.`,
  );
});

it('the trail is read on from the page before', async () => {
  const entry = { at: 1, action: 'stop', outcome: 'done', via: 'cli', actor: 'a', target: {} };
  answer = ({ url: { searchParams } }) => {
    const n = Number(searchParams.get('cursor') ?? 9);
    return Response.json({ entries: [{ ...entry, n, name: `ann ${String(n)}` }], cursor: '4' });
  };
  show(createElement(AuditTrail));
  await until('the newest entry', () => page.textOf('audit-entry')?.includes('ann 9'));
  page.click('next');
  await until('an older entry', () => page.textOf('audit-entry')?.includes('ann 4'));
});

it('an act is sent once, with its reason', () => {
  const reasons: unknown[] = [];
  show(
    createElement(ConfirmDialog, {
      title: 'Fork?',
      verb: 'Fork',
      onConfirm: (reason) => {
        reasons.push(reason);
        return new Promise(() => undefined);
      },
      onClose: () => undefined,
    }),
  );
  page.type('reason', ' why ');
  page.click('confirm');
  expect(page.isEnabled('confirm')).toBe(false);
  page.click('confirm');
  expect(reasons).toEqual(['why']);
});

function showQuestion(toolCallId: string, onExtend = (_byMs: number) => Promise.resolve()): void {
  const asked = { toolCallId, toolName: 'charge', kind: 'approval', input: {} } as const;
  show(
    createElement(WaitingQuestion, {
      key: toolCallId,
      question: { ...asked, mayDecide: true, deadline: 1, approvalId: 'a', inputHash: 'h' },
      runId: 's:1-a',
      callKey: 'k',
      mayExtend: true,
      isChosen: undefined,
      onChoose: () => undefined,
      onTouched: () => undefined,
      onAnswer: () => Promise.resolve(),
      onExtend,
    }),
  );
}

it('each question of a run says why it is asked', async () => {
  for (const step of [1, 2]) {
    answer = ({ url: { pathname } }) =>
      Response.json(
        pathname.includes('/steps/')
          ? { prompt: '', text: `Reason ${pathname.at(-1) ?? ''}` }
          : { steps: [{ step }] },
      );
    showQuestion(`c${String(step)}`);
    const details = document.querySelector('details');
    if (details !== null) details.open = true;
    details?.dispatchEvent(new Event('toggle'));
    await until('it says why', () => page.textOf('why-text')?.includes('Reason'));
    expect(page.textOf('why-text')).toContain(`Reason ${String(step)}`);
  }
});

it('a question gets an hour more', async () => {
  const extended: number[] = [];
  showQuestion('c1', async (byMs) => {
    extended.push(byMs);
  });
  page.click('extend');
  await until('the deadline is extended', () => extended.length > 0);
  expect(extended).toEqual([3_600_000]);
});

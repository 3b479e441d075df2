import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Role } from '../../protocol/actor.js';
import { runUrl } from '../../web/src/api-client.js';
import { ConsoleLink } from '../../web/src/chat-page.js';
import { formatPlace, readPlace } from '../../web/src/console/use-place.js';
import { toRunFilter } from '../../web/src/console/runs-view.js';
import { formatSpan, formatWhen } from '../../web/src/format-when.js';
import { toRange } from '../../web/src/console/usage-view.js';
import { placeSearch, readAgent, readPlace as readChat } from '../../web/src/use-place.js';

describe('places of the console', () => {
  it('the bare address shows what waits', () => {
    for (const path of ['/console', '/console/', '/console/waiting']) {
      expect(readPlace(path, '')).toEqual({ view: 'waiting', settings: {} });
    }
  });

  it('a place is found again from the address that it is given', () => {
    const places = [
      { view: 'runs', item: 'a chat/%:1-x', settings: {} },
      { view: 'runs', settings: { status: 'failed', owner: 'a & b' } },
      { view: 'waiting', item: 'chat', settings: { show: 'mine' } },
    ] as const;
    for (const place of places) {
      const { pathname, search } = new URL(formatPlace(place), 'http://x');
      expect(readPlace(pathname, search)).toEqual(place);
    }
  });

  it('a setting that is emptied leaves the address', () => {
    const settings = { status: '', owner: 'ann' };
    expect(formatPlace({ view: 'runs', settings })).toBe('/console/runs?owner=ann');
  });

  it('other addresses are no place, and none throws', () => {
    for (const path of ['/', '/consoles', '/console/x', '/console/usage/1', '/console/runs/a/b']) {
      expect(readPlace(path, '')).toBeUndefined();
    }
    expect(readPlace('/console/runs/%E0%A4%A', '')).toMatchObject({ item: '%E0%A4%A' });
  });

  it('settings that are empty or unknown leave no filter', () => {
    expect(toRunFilter({ status: '', age: 'ever', x: '1' }, 0)).toEqual({});
    expect(toRunFilter({ age: 'hour', agent: 'lab' }, 3_600_000)).toEqual({
      agent: 'lab',
      since: '1970-01-01T00:00:00.000Z',
    });
    expect(toRunFilter({ age: 'older-day' }, 86_400_000)).toEqual({
      before: '1970-01-01T00:00:00.000Z',
    });
  });
});

it('the chat page links to the console for those with a role only', () => {
  const show = (roles: Role[]): string =>
    renderToStaticMarkup(createElement(ConsoleLink, { roles }));
  for (const role of ['viewer', 'approver', 'operator'] as const) {
    expect(show([role])).toContain('href="/console"');
  }
  expect(show([])).toBe('');
});

describe('what the console writes', () => {
  it('a time of another year says which', () => {
    const now = Date.UTC(2026, 5, 15);
    const format = new Intl.DateTimeFormat(undefined, { year: 'numeric' });
    const yearOf = (ms: number) =>
      format.formatToParts(ms).find(({ type }) => type === 'year')?.value;
    const [last, same] = [Date.UTC(2025, 5, 10), Date.UTC(2026, 5, 10)];
    expect(formatWhen(last, now)).toContain(yearOf(last));
    expect(formatWhen(same, now)).not.toContain(yearOf(same));
  });

  it('a time of the next or last hours is a time of day, on either side of midnight', () => {
    const now = new Date(2026, 10, 30, 23, 30).getTime();
    const isTimeOfDay = (minutes: number): boolean => {
      const at = new Date(now + minutes * 60_000);
      const time = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
      return formatWhen(at.getTime(), now) === time;
    };
    expect([-720, -719, -60, 60, 719, 720].filter(isTimeOfDay)).toEqual([-719, -60, 60, 719]);
  });

  it('lengths of time are in the two largest units', () => {
    const lengths = [-5, 420, 12_400, 65_000, 3_600_000, 93_600_000];
    expect(lengths.map(formatSpan)).toEqual([
      '0.0 s',
      '0.4 s',
      '12 s',
      '1 min 5 s',
      '1 h',
      '1 d 2 h',
    ]);
  });

  it('usage is of the last 30 days, unless the address has days', () => {
    const now = new Date('2026-03-01T12:00:00Z');
    expect(toRange({}, now)).toEqual({ since: '2026-01-31', until: '2026-03-01' });
    expect(toRange({ since: '2026-02-01', until: 'x' }, now).since).toBe('2026-02-01');
    for (const until of ['2026-13-01', '2026-02-29']) {
      expect(toRange({ until }, now)).toEqual(toRange({}, now));
    }
  });
});

describe('the address of a conversation', () => {
  it.each(['lab', undefined])('with the agent %s is read as it was written', (agent) => {
    const place = { sessionId: 'a-B_9', agent };
    expect(readChat(placeSearch(place))).toEqual(place);
  });

  it.each(['', '?agent=lab', '?session=', '?session=a%2Fb', `?session=${'x'.repeat(129)}`])(
    'is not "%s", which names no session',
    (search) => expect(readChat(search)).toBeUndefined(),
  );

  it('may name only an agent', () => {
    expect(readAgent('?agent=lab')).toBe('lab');
    expect(readAgent('')).toBeUndefined();
  });
});

it.each([
  ['http://localhost:8233', 'http://localhost:8233/namespaces/default/workflows/run%3Ac%3A2-ab'],
  ['https://ui.example/t/', 'https://ui.example/t/namespaces/default/workflows/run%3Ac%3A2-ab'],
  [undefined, undefined],
])('the run in the Temporal UI at %s is at %s', (temporalUi, url) => {
  const config = { namespace: 'default', temporalUi };
  expect(runUrl(config, 'c:2-ab')).toBe(url);
  expect(runUrl(config, undefined)).toBeUndefined();
});

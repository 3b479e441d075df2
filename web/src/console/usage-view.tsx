import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { UsageReply, UsageRow } from '../../../protocol/operator.js';
import { Choice } from '../choice.js';
import { isDate } from '../form/shape.js';
import { read } from './console-api.js';
import { Rows } from './pages.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { useSettings, type Place } from './use-place.js';

const MICRO = 1_000_000;
const usual = (value: number): string => value.toLocaleString();

/** Measures that the chart can show. */
const MEASURES = {
  runs: { label: 'Runs', of: ({ runs }: UsageRow) => runs, format: usual },
  tokens: {
    label: 'Tokens',
    of: ({ inputTokens, outputTokens }: UsageRow) => inputTokens + outputTokens,
    format: usual,
  },
  cost: {
    label: 'Cost',
    of: ({ costMicroUsd = 0 }: UsageRow) => costMicroUsd / MICRO,
    format: (value: number) => `$${value.toFixed(2)}`,
  },
} as const;
type Measure = keyof typeof MEASURES;

/** Returns the range of days in the address; the last 30 days by default. Pure. */
export function toRange(
  { since = '', until = '' }: Readonly<Record<string, string>>,
  now: Date,
): { since: string; until: string } {
  const last = isDate(until) ? until : now.toISOString().slice(0, 10);
  const first = new Date(`${last}T00:00:00Z`);
  first.setUTCDate(first.getUTCDate() - 29);
  return { since: isDate(since) ? since : first.toISOString().slice(0, 10), until: last };
}

function groupLabel(value: string | undefined): string {
  return value === undefined || value === '' ? 'no answer of a model' : value;
}

const GROUPS = { day: 'Day', agent: 'Agent', owner: 'User', model: 'Model' } as const;
type Group = keyof typeof GROUPS;

/** Shows the usage of ended runs by day, agent, user or model, as a chart and a table. */
export function UsageView({ place }: { place: Place }): ReactElement {
  const { settings } = place;
  const change = useSettings(place);
  const by = (Object.keys(GROUPS) as Group[]).find((name) => name === settings['by']) ?? 'day';
  const measure =
    (Object.keys(MEASURES) as Measure[]).find((name) => name === settings['of']) ?? 'runs';
  const { since, until } = toRange(settings, new Date());
  const usage = useQuery({
    queryKey: ['usage', by, since, until],
    queryFn: ({ signal }) =>
      read<UsageReply>('/operator/usage', { query: { by, since, until }, signal }),
    refetchInterval: REFRESH_MS.seldom,
  });
  const rows = (usage.data?.usage ?? []).filter((row) => row[by] !== undefined || by === 'model');
  const day = (name: 'since' | 'until', label: string, value: string): ReactElement => (
    <label>
      {label}
      <input
        type="date"
        data-testid={name}
        value={value}
        onChange={(event) => change({ [name]: event.target.value })}
      />
    </label>
  );

  return (
    <>
      <div className="filters">
        <Choice
          label="By"
          testId="by"
          value={by}
          options={Object.entries(GROUPS)}
          onChoose={(next: string) => change({ by: next })}
        />
        <Choice
          label="Show"
          testId="measure"
          value={measure}
          options={Object.entries(MEASURES).map(([value, { label }]) => [value, label] as const)}
          onChoose={(next: string) => change({ of: next })}
        />
        {day('since', 'From', since)}
        {day('until', 'To', until)}
      </div>
      <ProblemNote error={usage.error} what="The usage" />
      {usage.isPending && <p role="status">Loading…</p>}
      {usage.data !== undefined && rows.length === 0 && (
        <p data-testid="empty">No run ended in these days.</p>
      )}
      {rows.length > 0 && (
        <>
          <UsageChart rows={rows} by={by} measure={measure} />
          <UsageTable rows={rows} by={by} />
        </>
      )}
    </>
  );
}

/** The chart shows at most this many groups; the table has all of them. */
const MAX = 40;

interface TableProps {
  rows: readonly UsageRow[];
  by: Group;
}

/** Horizontal bars with labelled values, readable without judging length or colour. */
function UsageChart({ rows, by, measure }: TableProps & { measure: Measure }): ReactElement {
  const { label: name, of, format } = MEASURES[measure];
  const shown = rows.slice(0, MAX);
  const most = Math.max(...shown.map(of), 0);
  return (
    <figure className="chart" data-testid="chart">
      <figcaption>
        {name} by {GROUPS[by].toLowerCase()}
        {rows.length > MAX && `, the first ${String(MAX)} of ${String(rows.length)}`}
      </figcaption>
      <ul>
        {shown.map((row) => (
          <li key={row[by] ?? ''} data-testid="chart-bar">
            <span>{groupLabel(row[by])}</span>
            <span className="track" aria-hidden="true">
              <span
                className="bar"
                style={{ width: `${String(most === 0 ? 0 : (100 * of(row)) / most)}%` }}
              />
            </span>
            <span className="chart-value">{format(of(row))}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function UsageTable({ rows, by }: TableProps): ReactElement {
  const sum = (of: (row: UsageRow) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  const cells = (of: (value: (row: UsageRow) => number) => number): ReactElement => (
    <>
      <td data-label="Runs">{of(({ runs }) => runs).toLocaleString()}</td>
      <td data-label="Tokens in">{of(({ inputTokens }) => inputTokens).toLocaleString()}</td>
      <td data-label="Tokens out">{of(({ outputTokens }) => outputTokens).toLocaleString()}</td>
      <td data-label="Cost">{MEASURES.cost.format(of(MEASURES.cost.of))}</td>
    </>
  );
  return (
    <Rows
      caption="Usage of ended runs; days are UTC"
      testId="usage-table"
      columns={[GROUPS[by], 'Runs', 'Tokens in', 'Tokens out', 'Cost']}
    >
      <tbody>
        {rows.map((row) => (
          <tr key={row[by] ?? ''}>
            <th scope="row">{groupLabel(row[by])}</th>
            {cells((value) => value(row))}
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">All</th>
          {cells(sum)}
        </tr>
      </tfoot>
    </Rows>
  );
}

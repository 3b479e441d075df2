import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorRun, OperatorRuns } from '../../../protocol/operator.js';
import { mayAs, type PageConfig } from '../api-client.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { read } from './console-api.js';
import { ManyDialog } from './many-dialog.js';
import { PageButtons, Rows, usePages, withKeys } from './pages.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { STATUS_WORDS } from './status-words.js';
import { formatPlace, Link, type Place, useSettings } from './use-place.js';
import { Choice } from '../choice.js';

const PAGE = 25;

/** Lists the tenant's runs, newest first, with filters and acts on many of them. */
export function RunsView({ place, config }: { place: Place; config: PageConfig }): ReactElement {
  const { settings } = place;
  const change = useSettings(place);
  const key = JSON.stringify(settings);
  const pages = usePages(key);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [act, setAct] = useState<{ act: 'stop' | 'retry'; all: boolean }>();
  const runs = useQuery({
    queryKey: ['runs', key, pages.cursor],
    queryFn: ({ signal }) =>
      read<OperatorRuns>('/operator/runs', {
        query: { ...toRunFilter(settings, Date.now()), limit: PAGE, cursor: pages.cursor },
        signal,
      }),
    refetchInterval: REFRESH_MS.usual,
  });
  const shown = runs.data?.runs ?? [];
  const mayAct = mayAs(config.roles, 'operator');
  const isFiltered = !isEmptyFilter(settings);

  return (
    <>
      <RunFilters settings={settings} agents={config.agents} onChange={change} />
      <ProblemNote error={runs.error} what="The list" />
      {runs.isPending && <p role="status">Loading…</p>}
      {runs.data !== undefined && shown.length === 0 && (
        <p data-testid="empty">
          {runs.data.cursor === undefined
            ? isFiltered
              ? 'No run matches.'
              : 'There are no runs yet.'
            : 'None on this page; there may be more on the next one.'}
        </p>
      )}
      {mayAct && shown.length > 0 && (
        <div className="acts" role="group" aria-label="Acts on many runs">
          <span data-testid="chosen">{chosen.size} chosen</span>
          {(isFiltered ? [false, true] : [false]).flatMap((all) =>
            (['stop', 'retry'] as const).map((name) => (
              <button
                key={`${name} ${String(all)}`}
                type="button"
                data-testid={`${name}-${all ? 'all' : 'chosen'}`}
                disabled={!all && chosen.size === 0}
                onClick={() => setAct({ act: name, all })}
              >
                {name === 'stop' ? 'Stop' : 'Repeat'} {all ? 'all that match' : 'them'}
              </button>
            )),
          )}
        </div>
      )}
      {shown.length > 0 && (
        <RunTable runs={shown} chosen={mayAct ? chosen : undefined} onChoose={setChosen} />
      )}
      <PageButtons pages={pages} list={runs} />
      {act !== undefined && (
        <ManyDialog
          act={act.act}
          of={
            act.all
              ? { filter: toRunFilter(settings, Date.now()) }
              : {
                  targets: [...chosen].map(
                    (runId) => shown.find((run) => run.runId === runId) ?? { runId },
                  ),
                }
          }
          onClose={() => {
            setAct(undefined);
            setChosen(new Set());
          }}
        />
      )}
    </>
  );
}

interface Props {
  runs: readonly OperatorRun[];
  /** Absent if this person may not act on runs. */
  chosen: ReadonlySet<string> | undefined;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

function RunTable({ runs, chosen, onChoose }: Props): ReactElement {
  const toggle = (runIds: readonly string[], isOn: boolean): void =>
    onChoose(withKeys(chosen ?? new Set(), runIds, isOn));
  const shown = runs.map(({ runId }) => runId);
  const columns = [
    ...(chosen === undefined
      ? []
      : [
          <input
            key="page"
            type="checkbox"
            aria-label="Choose all on this page"
            data-testid="choose-page"
            checked={shown.every((runId) => chosen.has(runId))}
            onChange={(event) => toggle(shown, event.target.checked)}
          />,
        ]),
    'Status',
    'Run',
    'Agent',
    'Owner',
    'Started',
    'Took',
  ];
  return (
    <Rows caption="Runs, newest first" columns={columns}>
      <tbody>
        {runs.map(({ runId, status, agent, owner, startedAt, endedAt, subAgent }) => (
          <tr key={runId} data-testid="run-row" data-run={runId}>
            {chosen !== undefined && (
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose ${runId}`}
                  checked={chosen.has(runId)}
                  onChange={(event) => toggle([runId], event.target.checked)}
                />
              </td>
            )}
            <td data-label="Status">
              <span className="badge" data-status={status}>
                {STATUS_WORDS[status]}
              </span>
            </td>
            <td data-label="Run">
              <Link href={formatPlace({ view: 'runs', item: runId })}>{runId}</Link>
            </td>
            <td data-label="Agent">
              {agent}
              {subAgent === true && ' (sub-agent)'}
            </td>
            <td data-label="Owner">{owner ?? '–'}</td>
            <td data-label="Started">
              <time dateTime={new Date(startedAt).toISOString()}>{formatWhen(startedAt)}</time>
            </td>
            <td data-label="Took">
              {endedAt === undefined ? 'not ended' : formatSpan(endedAt - startedAt)}
            </td>
          </tr>
        ))}
      </tbody>
    </Rows>
  );
}

type RunSettings = Readonly<Record<string, string>>;

/** Choices of age: runs started within `ms`, or longer ago than that. */
const AGES = [
  { name: 'hour', label: 'the last hour', ms: 3_600_000 },
  { name: 'day', label: 'the last 24 hours', ms: 86_400_000 },
  { name: 'week', label: 'the last 7 days', ms: 7 * 86_400_000 },
  { name: 'older-hour', label: 'more than an hour ago', ms: 3_600_000, isOlder: true },
  { name: 'older-day', label: 'more than a day ago', ms: 86_400_000, isOlder: true },
] as const;

/** Converts the settings to the API's filter. Pure. */
export function toRunFilter(settings: RunSettings, now: number): Record<string, string> {
  const { status = '', agent = '', owner = '', query = '', age = '' } = settings;
  const chosen = AGES.find(({ name }) => name === age);
  const at = chosen === undefined ? '' : new Date(now - chosen.ms).toISOString();
  const isOlder = chosen !== undefined && 'isOlder' in chosen;
  const filter = {
    status,
    agent,
    owner,
    query,
    since: isOlder ? '' : at,
    before: isOlder ? at : '',
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
}

function isEmptyFilter(settings: RunSettings): boolean {
  return Object.keys(toRunFilter(settings, 0)).length === 0;
}

interface FiltersProps {
  settings: RunSettings;
  agents: readonly string[];
  onChange: (changes: Record<string, string>) => void;
}

/** Choices apply at once, texts on Enter or blur. */
function RunFilters({ settings, agents, onChange }: FiltersProps): ReactElement {
  const key = JSON.stringify(settings);
  const [typed, setTyped] = useState({ key, texts: {} });
  // Another address brings other texts.
  const shown: RunSettings = typed.key === key ? { ...settings, ...typed.texts } : settings;
  const apply = (): void => {
    const { owner = '', query = '' } = shown;
    setTyped({ key, texts: {} });
    onChange({ owner: owner.trim(), query: query.trim() });
  };
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <Choice
      label={label}
      testId={`filter-${name}`}
      value={settings[name] ?? ''}
      options={[['', 'any'], ...options]}
      onChoose={(value) => onChange({ [name]: value })}
    />
  );
  const text = (name: 'owner' | 'query', label: string, placeholder: string) => (
    <label>
      {label}
      <input
        data-testid={`filter-${name}`}
        value={shown[name] ?? ''}
        placeholder={placeholder}
        onChange={({ target }) =>
          setTyped({ key, texts: { owner: shown.owner, query: shown.query, [name]: target.value } })
        }
        onBlur={apply}
      />
    </label>
  );
  return (
    <form
      className="filters"
      role="search"
      aria-label="Filter of runs"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      {choice('status', 'Status', Object.entries(STATUS_WORDS))}
      {choice(
        'agent',
        'Agent',
        agents.map((name) => [name, name] as const),
      )}
      {choice(
        'age',
        'Started',
        AGES.map(({ name, label }) => [name, label] as const),
      )}
      {text('owner', 'Owner', 'user id')}
      {text('query', 'Temporal filter', 'AgentTurn > 3')}
      <button type="submit" data-testid="filter">
        Filter
      </button>
    </form>
  );
}

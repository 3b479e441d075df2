import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorRuns } from '../../../protocol/operator.js';
import type { PageConfig } from '../api-client.js';
import { ManyDialog } from './many-dialog.js';
import { read } from './console-api.js';
import { PageButtons } from './page-buttons.js';
import type { Place } from './place.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { mayAs } from './roles.js';
import { RunFilters } from './run-filters.js';
import { RunTable } from './run-table.js';
import { isEmptyFilter, toRunFilter } from './run-filter.js';
import { usePages } from './use-pages.js';
import { useSettings } from './use-place.js';

const PAGE = 25;

/** The runs of the tenant, newest first, with filters and acts on many. */
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
      {runs.error !== null && <ProblemNote error={runs.error} what="The list" />}
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
          {(['stop', 'retry'] as const).map((name) => (
            <button
              key={name}
              type="button"
              data-testid={`${name}-chosen`}
              disabled={chosen.size === 0}
              onClick={() => {
                setAct({ act: name, all: false });
              }}
            >
              {name === 'stop' ? 'Stop them' : 'Repeat them'}
            </button>
          ))}
          {isFiltered &&
            (['stop', 'retry'] as const).map((name) => (
              <button
                key={`all-${name}`}
                type="button"
                data-testid={`${name}-all`}
                onClick={() => {
                  setAct({ act: name, all: true });
                }}
              >
                {name === 'stop' ? 'Stop all that match' : 'Repeat all that match'}
              </button>
            ))}
        </div>
      )}
      {shown.length > 0 && (
        <RunTable runs={shown} chosen={mayAct ? chosen : undefined} onChoose={setChosen} />
      )}
      <PageButtons pages={pages} next={runs.data?.cursor} />
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

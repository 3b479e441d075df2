import type { ReactElement } from 'react';
import type { OperatorRun } from '../../../protocol/operator.js';
import { formatWhen } from '../format-when.js';
import { formatSpan } from './format-span.js';
import { Link } from './link.js';
import { formatPlace } from './place.js';
import { STATUS_WORDS } from './status-words.js';

interface Props {
  runs: readonly OperatorRun[];
  /** Absent if this person may not act on runs. */
  chosen: ReadonlySet<string> | undefined;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

export function RunTable({ runs, chosen, onChoose }: Props): ReactElement {
  const toggle = (runIds: readonly string[], isOn: boolean): void => {
    const next = new Set(chosen);
    for (const runId of runIds) {
      if (isOn) next.add(runId);
      else next.delete(runId);
    }
    onChoose(next);
  };
  const shown = runs.map(({ runId }) => runId);
  return (
    <table className="rows">
      <caption className="hidden">Runs, newest first</caption>
      <thead>
        <tr>
          {chosen !== undefined && (
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Choose all on this page"
                data-testid="choose-page"
                checked={shown.every((runId) => chosen.has(runId))}
                onChange={(event) => {
                  toggle(shown, event.target.checked);
                }}
              />
            </th>
          )}
          <th scope="col">Status</th>
          <th scope="col">Run</th>
          <th scope="col">Agent</th>
          <th scope="col">Owner</th>
          <th scope="col">Started</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {runs.map(({ runId, status, agent, owner, startedAt, endedAt, subAgent }) => (
          <tr key={runId} data-testid="run-row" data-run={runId}>
            {chosen !== undefined && (
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose ${runId}`}
                  checked={chosen.has(runId)}
                  onChange={(event) => {
                    toggle([runId], event.target.checked);
                  }}
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
    </table>
  );
}

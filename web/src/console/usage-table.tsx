import type { ReactElement } from 'react';
import type { UsageRow } from '../../../protocol/usage.js';
import { groupLabel, MEASURES } from './usage.js';

interface Props {
  rows: readonly UsageRow[];
  by: 'day' | 'agent' | 'owner' | 'model';
  heading: string;
}

export function UsageTable({ rows, by, heading }: Props): ReactElement {
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
    <table className="rows" data-testid="usage-table">
      <caption className="hidden">Usage of ended runs; days are UTC</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          <th scope="col">Runs</th>
          <th scope="col">Tokens in</th>
          <th scope="col">Tokens out</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
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
    </table>
  );
}

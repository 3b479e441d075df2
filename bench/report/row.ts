import type { Summary } from './statistics.js';

/** One line of the table: what was measured, beside its floor or peer of the same run. */
export interface Row {
  what: string;
  unit: 'ms' | 'MB' | 'KB' | 'events' | 'bytes' | 'times' | 'k/s' | '1/s' | 'ns' | 'µs';
  value: Pick<Summary, 'p50'> & Partial<Summary>;
  /** What it is held against; absent when there is nothing to compare with. */
  beside?: { what: string; value: Pick<Summary, 'p50'> & Partial<Summary> };
  aim?: Aim;
}

/** What is aimed at: factors over the floor, or figures of its own. All that it names must hold. */
export interface Aim {
  /** Over the floor's median. */
  ratio?: number;
  /** Of p99, over the floor's p99. */
  ratioP99?: number;
  /** For what should be large: the least factor. */
  ratioAtLeast?: number;
  p50?: number;
  p99?: number;
  /** Enough in place of the rest. */
  or?: Aim;
}

export interface Report {
  rows: Row[];
  /** Sentences under the table: what the figures alone do not show. */
  notes: string[];
}

export function ratioOf({ value, beside }: Row): number | undefined {
  return beside === undefined ? undefined : value.p50 / beside.value.p50;
}

/** Undefined when one side has no p99. */
export function ratioP99Of({ value, beside }: Row): number | undefined {
  if (value.p99 === undefined || beside?.value.p99 === undefined) return undefined;
  return value.p99 / beside.value.p99;
}

/** Undefined without an aim. A figure that is missing does not meet one. */
export function meetsAim(row: Row): boolean | undefined {
  return row.aim === undefined ? undefined : meets(row, row.aim);
}

function meets(row: Row, aim: Aim): boolean {
  const { value } = row;
  if (aim.or !== undefined && meets(row, aim.or)) return true;
  return (
    (aim.p50 === undefined || value.p50 <= aim.p50) &&
    (aim.p99 === undefined || (value.p99 ?? NaN) <= aim.p99) &&
    (aim.ratio === undefined || (ratioOf(row) ?? NaN) <= aim.ratio) &&
    (aim.ratioP99 === undefined || (ratioP99Of(row) ?? NaN) <= aim.ratioP99) &&
    (aim.ratioAtLeast === undefined || (ratioOf(row) ?? NaN) >= aim.ratioAtLeast)
  );
}

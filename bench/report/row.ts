import type { Summary } from './statistics.js';

/** One line of the table: what was measured, beside its floor or peer of the same run. */
export interface Row {
  what: string;
  unit: 'ms' | 'MB' | 'KB' | 'events' | 'bytes' | 'times' | 'k/s' | '1/s' | 'ns';
  value: Pick<Summary, 'p50'> & Partial<Summary>;
  /** What it is held against; absent when there is nothing to compare with. */
  beside?: { what: string; value: Pick<Summary, 'p50'> & Partial<Summary> };
  aim?: Aim;
}

/** What is aimed at: a factor over the floor's median, or figures of its own. */
export interface Aim {
  ratio?: number;
  /** For what should be large: the least factor. */
  ratioAtLeast?: number;
  p50?: number;
  p99?: number;
}

export interface Report {
  rows: Row[];
  /** Sentences under the table: what the figures alone do not show. */
  notes: string[];
}

export function ratioOf({ value, beside }: Row): number | undefined {
  return beside === undefined ? undefined : value.p50 / beside.value.p50;
}

/** Undefined without an aim. A figure that is missing does not meet one. */
export function meetsAim(row: Row): boolean | undefined {
  const { aim, value } = row;
  if (aim === undefined) return undefined;
  const { ratio = Infinity, p50 = Infinity, p99 = Infinity } = aim;
  return (
    value.p50 <= p50 &&
    (aim.p99 === undefined || (value.p99 ?? NaN) <= p99) &&
    (aim.ratio === undefined || (ratioOf(row) ?? NaN) <= ratio) &&
    (aim.ratioAtLeast === undefined || (ratioOf(row) ?? NaN) >= aim.ratioAtLeast)
  );
}

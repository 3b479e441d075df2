import type { Bench } from '../bench.js';
import type { Row } from '../report/row.js';

interface Run {
  workflowId: string;
}

/** What a step leaves in Temporal's history, beside two bare activities. */
export async function measureHistory(
  { temporal }: Bench,
  steps: number,
  run: Run | undefined,
  floor: Run | undefined,
): Promise<Row[]> {
  const read = async (which: Run | undefined): Promise<{ events: number; bytes: number }> => {
    const workflow = temporal.workflow.getHandle(which?.workflowId ?? '');
    const { historyLength, historySize = NaN } = await workflow.describe();
    return { events: historyLength / steps, bytes: historySize / steps };
  };
  const [product, bare] = await Promise.all([read(run), read(floor)]);
  const rows: Row[] = (['events', 'bytes'] as const).map((unit) => ({
    what: `history per step`,
    unit,
    value: { p50: product[unit] },
    beside: { what: 'two bare activities', value: { p50: bare[unit] } },
  }));
  return rows;
}

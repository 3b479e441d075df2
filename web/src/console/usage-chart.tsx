import type { ReactElement } from 'react';

/** Groups that a chart shows; the table has all of them. */
const MOST = 40;

interface Props {
  title: string;
  bars: readonly { label: string; value: number }[];
  format: (value: number) => string;
}

/** Horizontal bars with their values in words, so that neither length nor colour is needed to read them. */
export function UsageChart({ title, bars, format }: Props): ReactElement {
  const shown = bars.slice(0, MOST);
  const most = Math.max(...shown.map(({ value }) => value), 0);
  return (
    <figure className="chart" data-testid="chart">
      <figcaption>
        {title}
        {bars.length > MOST && `, the first ${String(MOST)} of ${String(bars.length)}`}
      </figcaption>
      <ul>
        {shown.map(({ label, value }) => (
          <li key={label} data-testid="chart-bar">
            <span className="chart-label">{label}</span>
            <span className="track" aria-hidden="true">
              <span
                className="bar"
                style={{ left: 0, width: `${String(most === 0 ? 0 : (100 * value) / most)}%` }}
              />
            </span>
            <span className="chart-value">{format(value)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

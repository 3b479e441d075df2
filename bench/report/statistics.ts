/** A set of samples in two numbers. */
export interface Summary {
  p50: number;
  p99: number;
  count: number;
}

/** Nearest-rank percentiles; NaN of no samples, so that a measurement that failed cannot look good. */
export function summarize(samples: readonly number[]): Summary {
  const sorted = Float64Array.from(samples).sort();
  const at = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}

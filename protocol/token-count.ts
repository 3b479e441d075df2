/** Providers have reported NaN and null. More than a billion is no count of one call. Pure. */
export function toTokenCount(tokens: number | null | undefined): number | undefined {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens)) return undefined;
  return Math.min(Math.max(0, Math.round(tokens)), 1_000_000_000);
}

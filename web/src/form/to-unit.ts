/** What a number counts, by its `format`: `currency:EUR`, `unit:kg` or `percent`. */
export interface Unit {
  sign: string;
  /** The smallest amount, of money. */
  step?: number;
}

export function toUnit(format: unknown): Unit | undefined {
  if (typeof format !== 'string') return undefined;
  if (format === 'percent') return { sign: '%' };
  const [, kind, name = ''] = /^(currency|unit):(.{1,20})$/.exec(format) ?? [];
  if (kind === 'unit') return { sign: name };
  return kind === 'currency' ? toMoney(name) : undefined;
}

function toMoney(currency: string): Unit {
  try {
    const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
    const sign = format.formatToParts(0).find(({ type }) => type === 'currency')?.value;
    const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
    return { sign: sign ?? currency, step: 10 ** -digits };
  } catch {
    // No currency that browsers know.
    return { sign: currency };
  }
}

import { shownText } from './shown-text.js';

/** What spreadsheets take for a formula. */
const FORMULA = /^[=+\-@]/;

/** A line of CSV (RFC 4180). Texts are those of strangers: spreadsheets show them and compute nothing. */
export function csvLine(values: readonly unknown[]): string {
  return values.map(toCell).join(',');
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const shown = shownText(typeof value === 'string' ? value : JSON.stringify(value));
  const text = FORMULA.test(shown) ? `'${shown}` : shown;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

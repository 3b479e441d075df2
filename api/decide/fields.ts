import { toWords } from '../../protocol/to-words.js';
import { escaped } from './escaped.js';

/** Values further inside are shown as JSON. */
const MOST_DEPTH = 3;

/** A value as HTML for people: fields by name, lists item by item. Pure. */
export function toFields(value: unknown, depth = 0): string {
  if (typeof value === 'string') return escaped(value);
  if (typeof value !== 'object' || value === null || depth >= MOST_DEPTH) {
    return escaped(JSON.stringify(value ?? null));
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => `<li>${toFields(item, depth + 1)}</li>`);
    return items.length === 0 ? '–' : `<ol>${items.join('')}</ol>`;
  }
  const fields = Object.entries(value).map(
    ([name, field]) => `<dt>${escaped(toWords(name))}</dt><dd>${toFields(field, depth + 1)}</dd>`,
  );
  return fields.length === 0 ? '–' : `<dl>${fields.join('')}</dl>`;
}

/**
 * Control characters, which terminals execute, and those that change the text direction. Strangers write tool
 * inputs and names, and a person decides by what the terminal shows.
 */
// oxlint-disable-next-line no-control-regex -- These are looked for.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes a text to one line that a terminal only displays. */
export function shownText(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replace(OBEYED, escape);
}

/** Returns equivalent JSON that a terminal only displays. */
export function shownJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) as string | undefined;
  return shownJsonText(json ?? 'null');
}

export function shownJsonText(json: string): string {
  // Line breaks here stand between values, as JSON escapes those inside strings.
  return json.replace(OBEYED, (character) => (character === '\n' ? character : escape(character)));
}

/** Cuts a text to `most` characters and marks the cut. */
export function shortText(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export const TIME_FORMATS = ['relative', 'iso', 'raw'] as const;
export type TimeFormat = (typeof TIME_FORMATS)[number];

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a time for a table. @param at ms since the epoch; undefined is shown as `-` */
export function shownTime(at: number | undefined, format: TimeFormat, now: number): string {
  if (at === undefined) return '-';
  if (format === 'raw') return String(at);
  if (format === 'iso') return new Date(at).toISOString();
  const distance = shownDuration(Math.abs(now - at));
  return at > now ? `in ${distance}` : `${distance} ago`;
}

/** Formats a duration in its two largest units, such as `2h 5m`. */
export function shownDuration(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const unit = UNITS[first];
  if (unit === undefined) return `${String(Math.round(ms))}ms`;
  const [name, size] = unit;
  const count = Math.floor(ms / size);
  const [smaller, smallerSize] = UNITS[first + 1] ?? [];
  const rest = smallerSize === undefined ? 0 : Math.floor((ms - count * size) / smallerSize);
  return `${String(count)}${name}${rest > 0 && smaller ? ` ${String(rest)}${smaller}` : ''}`;
}

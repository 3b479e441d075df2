/**
 * Control characters, which terminals obey, and characters that change the direction of what follows:
 * tool inputs and names come from strangers, and a person decides by what the terminal shows.
 */
// oxlint-disable-next-line no-control-regex -- These are looked for.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text as one line that a terminal shows and does not obey. */
export function shownText(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replace(OBEYED, escape);
}

/** JSON that a terminal shows and does not obey; it means the same. */
export function shownJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) as string | undefined;
  return shownJsonText(json ?? 'null');
}

/** The same, of JSON that is a text already. */
export function shownJsonText(json: string): string {
  // Line breaks are those between the values: inside a text JSON has escaped them.
  return json.replace(OBEYED, (character) => (character === '\n' ? character : escape(character)));
}

/** At most so many characters, with a mark where something is missing. */
export function shortText(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
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

/**
 * A moment in a table.
 *
 * @param at ms since the epoch; nothing is shown as `-`
 */
export function shownTime(at: number | undefined, format: TimeFormat, now: number): string {
  if (at === undefined) return '-';
  if (format === 'raw') return String(at);
  if (format === 'iso') return new Date(at).toISOString();
  const distance = shownDuration(Math.abs(now - at));
  return at > now ? `in ${distance}` : `${distance} ago`;
}

/** A duration in its two largest units, such as `2h 5m`. */
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

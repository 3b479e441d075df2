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

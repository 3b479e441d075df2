/** Kinds of text control. */
export type TextInput = 'text' | 'long' | 'email' | 'url' | 'date' | 'time' | 'date-time';

const DATE = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d(?::00)?$/;
/** An RFC 3339 time with its offset. */
const MOMENT = /^(.{10})T(?:[01]\d|2[0-3]):[0-5]\d:00(?:\.0+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Returns true if a control shows the whole text unchanged. Browsers hide an invalid date, cut seconds that a
 * control cannot hold, and drop line breaks; people would approve text that is not on screen. Pure.
 */
export function isShownBy(input: TextInput, text: string): boolean {
  if (hasHiddenCharacters(text)) return false;
  switch (input) {
    case 'date':
      return isDate(text);
    case 'time':
      return TIME.test(text);
    case 'date-time': {
      const [, date = ''] = MOMENT.exec(text) ?? [];
      return isDate(date) && Date.parse(toLocalTime(text)) === Date.parse(text);
    }
    case 'email':
    case 'url':
      return text === text.trim() && !hasLineBreak(text);
    case 'text':
      return !hasLineBreak(text);
    case 'long':
      return true;
  }
}

/** Converts a time to the value of a `datetime-local` control: the reader's time zone, to the minute. */
export function toLocalTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

/** Control characters, invisible ones, and those that change the text direction. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns true if a control cannot show every character; JSON can escape them. */
export function hasHiddenCharacters(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}

/** Escapes hidden characters in JSON. */
export function escapeHidden(json: string): string {
  return json.replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  // `Date` would turn the 30th of February into a day in March.
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

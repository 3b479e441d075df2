import { hasLineBreak } from './is-shown-by.js';
import type { Shape } from './shape.js';

/**
 * The value that all items of a list fit if their one shape is made for it: texts that need the most room,
 * in the fields that the items' schema has. Pure.
 */
export function toWidest(shape: Shape, items: readonly unknown[]): unknown {
  if (shape.kind === 'text') return widestText(items);
  if (shape.kind !== 'group' || items.length === 0) return undefined;
  return Object.fromEntries(
    shape.fields.map(({ name, shape: inner }) => {
      const given = items.map((item) => ownOf(item, name));
      return [name, toWidest(inner, given)];
    }),
  );
}

/** The text that needs the most of its control: one with line breaks, or else the longest. */
export function widestText(values: readonly unknown[]): string | undefined {
  const texts = values.filter((each) => typeof each === 'string');
  return texts.find(hasLineBreak) ?? texts.sort((a, b) => b.length - a.length)[0];
}

function ownOf(item: unknown, name: string): unknown {
  const isObject = typeof item === 'object' && item !== null && Object.hasOwn(item, name);
  return isObject ? (item as Record<string, unknown>)[name] : undefined;
}

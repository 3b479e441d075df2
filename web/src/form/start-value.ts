import type { Shape } from './shape.js';

/** What a form begins with where no value is given: defaults, and the empty values of what is required. Pure. */
export function startValue(shape: Shape, isRequired = true, isInList = false): unknown {
  if (shape.start !== undefined) return shape.start;
  if (!isRequired) return undefined;
  switch (shape.kind) {
    case 'group':
      return Object.fromEntries(
        shape.fields.flatMap(({ name, required, shape: inner }) => {
          const value = startValue(inner, required, isInList);
          return value === undefined ? [] : [[name, value]];
        }),
      );
    case 'list':
      // Lists of lists could be of any length.
      return Array.from({ length: isInList ? 0 : shape.min }, () =>
        startValue(shape.item, true, true),
      );
    case 'switch':
      return false;
    case 'text':
      // A control that is left blank has a blank text.
      return shape.input === 'text' || shape.input === 'long' ? '' : undefined;
    default:
      return undefined;
  }
}

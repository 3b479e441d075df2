import type { Shape } from './shape.js';

/** What a form begins with where no value is given: defaults, and the empty values of what is required. Pure. */
export function startValue(shape: Shape, isRequired = true): unknown {
  if (shape.start !== undefined) return shape.start;
  if (!isRequired) return undefined;
  switch (shape.kind) {
    case 'group':
      return Object.fromEntries(
        shape.fields.flatMap(({ name, required, shape: inner }) => {
          const value = startValue(inner, required);
          return value === undefined ? [] : [[name, value]];
        }),
      );
    case 'list':
      return Array.from({ length: shape.min }, () => startValue(shape.item));
    case 'switch':
      return false;
    default:
      return undefined;
  }
}

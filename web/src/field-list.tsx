import type { ReactElement } from 'react';
import { toWords } from '../../protocol/to-words.js';
import { readable } from './tool-state.js';

/** A value as a person reads it: the fields of an object by name, one level deep, the rest in words. */
export function FieldList({ value }: { value: unknown }): ReactElement {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return <p>{inWords(value)}</p>;
  }
  return (
    <dl className="fields">
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt>{toWords(name)}</dt>
          <dd>{inWords(field)}</dd>
        </div>
      ))}
    </dl>
  );
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(inWords).join('; ');
  if (typeof value !== 'object' || value === null) return readable(value);
  // Without their names, two accounts or two amounts look the same.
  const fields = Object.entries(value).map(
    ([name, field]) => `${toWords(name)}: ${inWords(field)}`,
  );
  return fields.length === 0 ? '–' : fields.join(', ');
}

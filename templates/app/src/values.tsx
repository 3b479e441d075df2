import { toWords } from './to-words.js';

/** The parts of a JSON Schema that this list reads. */
interface ObjectSchema {
  properties?: Record<string, { title?: string; format?: string }>;
}

/** Shows an object's fields with the titles and units of the tool's schema. */
export function Values({ of, schema }: { of: unknown; schema?: unknown }) {
  const fields = typeof of === 'object' && of !== null ? Object.entries(of) : [];
  const { properties = {} } = (schema ?? {}) as ObjectSchema;
  return (
    <dl>
      {fields.map(([name, value]) => (
        <div key={name}>
          <dt>{properties[name]?.title ?? toWords(name)}</dt>
          <dd>{toText(value, properties[name]?.format)}</dd>
        </div>
      ))}
    </dl>
  );
}

function toText(value: unknown, format = ''): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  const [, currency] = /^currency:([A-Z]{3})$/.exec(format) ?? [];
  if (typeof value === 'number' && currency) {
    return value.toLocaleString(undefined, { style: 'currency', currency });
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

import type { ReactElement } from 'react';
import type { ChangedInput } from './changed-input.js';
import { readable, type ToolPart } from './tool-state.js';
import { toWords } from './to-words.js';

interface Props {
  part: ToolPart;
  changed: ChangedInput | undefined;
}

/** What people decided about a call, and what they changed of it. */
export function DecisionNote({ part, changed }: Props): ReactElement | null {
  const approved = part.approval?.approved;
  if (approved === undefined) return null;
  const changes = changed === undefined ? [] : describeChanges(part.input, changed.input);
  const by = changed?.by === undefined ? '' : ` by ${changed.by}`;
  return (
    <div className="decision" data-testid="decision">
      <p>
        {approved ? `Approved${by}${changes.length > 0 ? ', with changes:' : '.'}` : 'Denied.'}
        {!approved && part.approval?.reason !== undefined && ` ${part.approval.reason}`}
      </p>
      {changes.length > 0 && (
        <ul>
          {changes.map(({ name, before, after }) => (
            <li key={name}>
              {toWords(name)}: <del>{before}</del> <ins>{after}</ins>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The fields of an input that were changed, as people read them. Pure. */
export function describeChanges(
  asked: unknown,
  given: unknown,
): { name: string; before: string; after: string }[] {
  const [old, now] = [toFields(asked), toFields(given)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [before, after] = [readable(old[name]), readable(now[name])];
    return before === after ? [] : { name, before, after };
  });
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  const isFields = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isFields ? (value as Record<string, unknown>) : { value };
}

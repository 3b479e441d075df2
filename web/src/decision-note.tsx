import type { ReactElement } from 'react';
import { describeDecision, type ShownDecision } from './shown-decision.js';
import { readable } from './tool-state.js';
import { toWords } from '../../protocol/to-words.js';

interface Props {
  /** What the model asked for. */
  input: unknown;
  decision: ShownDecision;
}

/** What people decided about a call, and what they changed of it. */
export function DecisionNote({ input, decision }: Props): ReactElement {
  const { changed } = decision;
  const changes = changed === undefined ? [] : describeChanges(input, changed.input);
  return (
    <div className="decision" data-testid="decision">
      <p>{describeDecision(decision)}</p>
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

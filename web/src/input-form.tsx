import type { ReactElement } from 'react';
import type { EditableField } from './editable-input.js';
import { toWords } from './to-words.js';

interface Props {
  fields: readonly EditableField[];
  texts: Readonly<Record<string, string>>;
  disabled: boolean;
  onChange: (name: string, text: string) => void;
}

/** What the agent asks for, field by field, to be changed before it is approved. */
export function InputForm({ fields, texts, disabled, onChange }: Props): ReactElement {
  return (
    <div className="input-form">
      {fields.map(({ name, kind, text }) => {
        const value = texts[name] ?? text;
        const common = { disabled, 'data-testid': `input-${name}` };
        return (
          <label key={name} className={value === text ? undefined : 'changed'}>
            <span>{toWords(name)}</span>
            {kind === 'switch' ? (
              <input
                {...common}
                type="checkbox"
                checked={value === 'true'}
                onChange={(event) => {
                  onChange(name, String(event.target.checked));
                }}
              />
            ) : (
              <input
                {...common}
                type={kind === 'number' ? 'number' : 'text'}
                step="any"
                value={value}
                onChange={(event) => {
                  onChange(name, event.target.value);
                }}
              />
            )}
          </label>
        );
      })}
    </div>
  );
}

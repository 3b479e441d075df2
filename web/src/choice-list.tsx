import type { ReactElement, ReactNode } from 'react';
import type { CustomerQuestion } from './customer-question.js';

interface Props {
  asked: CustomerQuestion;
  disabled: boolean;
  onChoose: (optionId: string) => void;
  /** Below the options. */
  children?: ReactNode;
}

/** A question with a button for each option. */
export function ChoiceList({ asked, disabled, onChoose, children }: Props): ReactElement {
  return (
    <fieldset className="choice" data-testid="choice-card" disabled={disabled}>
      <legend>{asked.question}</legend>
      {asked.options.map(({ id, label, detail }) => (
        <button
          type="button"
          key={id}
          data-testid={`choose-${id}`}
          onClick={() => {
            onChoose(id);
          }}
        >
          <strong>{label}</strong>
          {detail !== undefined && <span>{detail}</span>}
        </button>
      ))}
      {children}
    </fieldset>
  );
}

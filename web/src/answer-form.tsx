import type { ReactElement } from 'react';
import { isObject, ownValue } from './objects.js';
import { FieldList } from './field-list.js';
import { DECLINED, ResultForm, schemaOfResult, shownOfQuestion } from './form/result-form.js';

interface Props {
  toolName: string;
  title: string;
  input: unknown;
  /** JSON Schema of the result, if the tool has one. */
  schema: unknown;
  disabled: boolean;
  onAnswer: (answer: { result: unknown } | { error: string }) => void;
}

/** Lets the person answer a client tool's call by choosing an option or filling in a form. */
export function AnswerForm(props: Props): ReactElement {
  const { toolName, title, input, schema, disabled, onAnswer } = props;
  const asked = toCustomerQuestion(toolName, input);
  if (asked !== undefined) {
    return (
      <fieldset className="choice" disabled={disabled}>
        <legend>{asked.question}</legend>
        {asked.options.map(({ id, label, detail }) => (
          <button
            type="button"
            key={id}
            data-testid={`choose-${id}`}
            onClick={() => onAnswer({ result: { chosen: id } })}
          >
            <strong>{label}</strong>
            {detail !== undefined && <span>{detail}</span>}
          </button>
        ))}
      </fieldset>
    );
  }
  const shown = shownOfQuestion(input);
  return (
    <>
      {shown !== undefined && <FieldList value={shown} />}
      <ResultForm
        title={title}
        schema={schemaOfResult(schema, input)}
        disabled={disabled}
        onResult={(result) => onAnswer({ result })}
        onRefuse={() => onAnswer({ error: DECLINED })}
      />
    </>
  );
}

/** Input of the help desk's tool `askCustomer`. */
interface CustomerQuestion {
  question: string;
  options: { id: string; label: string; detail?: string }[];
}

/** Returns the question of an `askCustomer` call; undefined for other tools and inputs. */
export function toCustomerQuestion(tool: string, input: unknown): CustomerQuestion | undefined {
  return tool === 'askCustomer' && isQuestion(input) ? input : undefined;
}

/** Returns the label of the option that a call's result names. */
export function labelOf({ options }: CustomerQuestion, output: unknown): string | undefined {
  return options.find(({ id }) => id === ownValue(output, 'chosen'))?.label;
}

function isQuestion(input: unknown): input is CustomerQuestion {
  return isObject(input) && 'question' in input && Array.isArray(input['options']);
}

import { useState, type ReactElement } from 'react';
import type { ClientCall } from './client-call.js';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { FieldList } from './field-list.js';
import { DECLINED, ResultForm } from './form/result-form.js';
import { schemaOfResult, shownOfQuestion } from './form/schema-of-result.js';

/** A client tool that this page has no card for: the person answers in its place. */
export function ClientToolCard(call: ClientCall): ReactElement {
  const { tool, title, toolCallId, input, open } = call;
  const { giveResult } = useCurrentConversation();
  const question = usePageState(({ pending }) =>
    pending.find((each) => each.toolCallId === toolCallId),
  );
  const [answered, setAnswered] = useState(false);
  const shown = shownOfQuestion(input);
  return (
    <div className="approval" data-testid="client-tool-card">
      <p>{open ? 'The agent needs an answer from you.' : 'No longer needed.'}</p>
      {shown !== undefined && <FieldList value={shown} />}
      <ResultForm
        title={title}
        schema={schemaOfResult(question?.schema, input)}
        disabled={answered || !open}
        onResult={(output) => {
          setAnswered(true);
          giveResult(toolCallId, tool, { output });
        }}
        onRefuse={() => {
          setAnswered(true);
          giveResult(toolCallId, tool, { state: 'output-error', errorText: DECLINED });
        }}
      />
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </div>
  );
}

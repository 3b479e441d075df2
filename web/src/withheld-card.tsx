import { useState, type ReactElement } from 'react';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { describeApprovers } from './describe-approvers.js';
import { FieldList } from './field-list.js';
import { EditedNote } from './question-notes.js';

interface Props {
  toolCallId: string;
  input: unknown;
}

/** An approval that another person has to give; the one who asked may withdraw it. */
export function WithheldCard({ toolCallId, input }: Props): ReactElement {
  const { controls } = useCurrentConversation();
  const question = usePageState(({ pending }) =>
    pending.find((each) => each.toolCallId === toolCallId),
  );
  const [withdrawn, setWithdrawn] = useState(false);
  return (
    <div className="approval" data-testid="withheld-card">
      <p>{describeApprovers(question ?? {})} You may close this page; the answer will be here.</p>
      <EditedNote edited={question?.edited} />
      <FieldList value={question?.input ?? input} />
      <DeadlineNote toolCallId={toolCallId} />
      <div className="approval-tools">
        <button
          type="button"
          data-testid="withdraw"
          disabled={withdrawn || question === undefined}
          onClick={() => {
            if (question === undefined) return;
            setWithdrawn(true);
            void controls.withdraw(question).then(setWithdrawn);
          }}
        >
          Withdraw
        </button>
      </div>
    </div>
  );
}

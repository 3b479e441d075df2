import { useState, type ReactElement } from 'react';
import { ChoiceList } from './choice-list.js';
import type { ClientCall } from './client-call.js';
import { useCurrentConversation } from './current-conversation.js';
import { toChoice, type CustomerQuestion } from './customer-question.js';
import { DeadlineNote } from './deadline-note.js';

interface Props extends ClientCall {
  asked: CustomerQuestion;
}

/** The tool `askCustomer`, carried out. */
export function ChoiceCard({ asked, toolCallId, tool, open }: Props): ReactElement {
  const { giveResult } = useCurrentConversation();
  const [answered, setAnswered] = useState(false);
  return (
    <ChoiceList
      asked={asked}
      disabled={answered || !open}
      onChoose={(optionId) => {
        setAnswered(true);
        giveResult(toolCallId, tool, { output: toChoice(optionId) });
      }}
    >
      {open ? <DeadlineNote toolCallId={toolCallId} /> : <p>No longer needed.</p>}
    </ChoiceList>
  );
}

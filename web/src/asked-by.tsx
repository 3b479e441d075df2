import type { ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { titleOfAgent } from './tool-names.js';

/** Who asks for an approval, and what the agent would do. */
export function AskedBy({ question }: { question: PendingQuestion | undefined }): ReactElement {
  const { cards } = useCurrentConversation();
  const own = usePageState((page) => page.agent);
  const agent = titleOfAgent(cards, question?.agent ?? own);
  return (
    <div className="asked-by" data-testid="asked-by">
      <p>
        <strong>{agent}</strong> asks for your approval. You can change the values first.
      </p>
      {question?.description !== undefined && (
        <details>
          <summary>What this does</summary>
          <p>{question.description}</p>
        </details>
      )}
    </div>
  );
}

import type { PendingQuestion, ToolCard } from 'helix-temporal/protocol';
import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import Markdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { ApprovalCard, type Answer } from './approval-card.js';
import { ToolLine } from './tool-line.js';
import { toWords } from './to-words.js';

interface Props {
  message: UIMessage;
  tools: readonly ToolCard[];
  /** Questions that wait for an answer now. */
  questions: readonly PendingQuestion[];
  onAnswer: (answer: Answer) => unknown;
}

export function Message({ message, tools, questions, onAnswer }: Props) {
  return (
    <article data-role={message.role}>
      {message.parts.map((part, n) => {
        if (part.type === 'text' && message.role === 'user') return <p key={n}>{part.text}</p>;
        if (part.type === 'text') {
          return (
            <Markdown key={n} remarkPlugins={[remarkGfm]} disallowedElements={['img']}>
              {part.text}
            </Markdown>
          );
        }
        if (!isToolUIPart(part)) return null;
        const { toolCallId } = part;
        const toolName = getToolName(part);
        const title = tools.find(({ name }) => name === toolName)?.title ?? toWords(toolName);
        if (part.state !== 'approval-requested') {
          return <ToolLine key={toolCallId} part={part} title={title} />;
        }
        return (
          <ApprovalCard
            key={toolCallId}
            part={part}
            title={title}
            question={questions.find((each) => each.toolCallId === toolCallId)}
            onAnswer={onAnswer}
          />
        );
      })}
    </article>
  );
}

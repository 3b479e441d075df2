'use client';
import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { useState } from 'react';
import { createResumableChatTransport, type FrontendSnapshot } from 'helix-temporal/ai-sdk/client';
import { useHelixChat } from 'helix-temporal/ai-sdk/react';

interface Props {
  id: string;
  snapshot: FrontendSnapshot | null;
}

export function Chat({ id, snapshot }: Props) {
  const [transport] = useState(() => createResumableChatTransport({ api: '/api/chat' }));
  const [text, setText] = useState('');
  const { messages, status, sendMessage, addToolApprovalResponse } = useHelixChat<UIMessage>({
    id,
    transport,
    messages: snapshot?.messages,
    pending: snapshot?.pending,
    resume: snapshot?.status === 'active' || snapshot?.status === 'paused',
  });

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, n) => {
            if (part.type === 'text') return <p key={n}>{part.text}</p>;
            if (!isToolUIPart(part)) return null;
            return (
              <section key={part.toolCallId}>
                <p>
                  {getToolName(part)}: {JSON.stringify(part.input)} ({part.state})
                </p>
                {part.state === 'approval-requested' &&
                  [true, false].map((approved) => (
                    <button
                      key={String(approved)}
                      onClick={() =>
                        void addToolApprovalResponse({ id: part.approval.id, approved })
                      }
                    >
                      {approved ? 'Approve' : 'Deny'}
                    </button>
                  ))}
              </section>
            );
          })}
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText('');
        }}
      >
        <input
          aria-label="Message"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button disabled={status !== 'ready' || text === ''}>Send</button>
      </form>
    </main>
  );
}

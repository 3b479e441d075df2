import { createResumableChatTransport, type FrontendSnapshot } from 'helix-temporal/ai-sdk/client';
import { useHelixChat } from 'helix-temporal/ai-sdk/react';
import type { UIMessage } from 'ai';
import { useState, type FormEvent } from 'react';
import { ToolCard } from './tool-card.js';

interface Props {
  id: string;
  snapshot: FrontendSnapshot<UIMessage>;
}

export function Chat({ id, snapshot }: Props) {
  const [transport] = useState(() => createResumableChatTransport({ api: '/api/chat' }));
  const [text, setText] = useState('');
  const chat = useHelixChat({
    id,
    transport,
    messages: snapshot.messages,
    pending: snapshot.pending,
    resume: snapshot.status === 'active' || snapshot.status === 'paused',
    // Shows answers that were given on another device.
    eventsUrl: `/api/chat/${id}/events`,
    resumeFromSequence: snapshot.streamSequence,
  });
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';

  function send(event: FormEvent) {
    event.preventDefault();
    void chat.sendMessage({ text });
    setText('');
  }

  return (
    <main>
      <div role="log" aria-label="Conversation">
        {chat.messages.map((message) => (
          <article key={message.id} data-role={message.role}>
            {message.parts.map((part, n) => {
              if (part.type === 'text') return <p key={n}>{part.text}</p>;
              if (part.type !== 'dynamic-tool') return null;
              return (
                <ToolCard key={part.toolCallId} part={part} answer={chat.addToolApprovalResponse} />
              );
            })}
          </article>
        ))}
      </div>
      {chat.error && (
        <p role="alert">
          {chat.error.message} <button onClick={() => void chat.retry()}>Try again</button>
        </p>
      )}
      <form onSubmit={send}>
        <input
          aria-label="Message"
          placeholder="I want a refund for order 1042"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button disabled={isBusy || text.trim() === ''}>Send</button>
      </form>
    </main>
  );
}

import { createResumableChatTransport, type FrontendSnapshot } from 'helix-temporal/ai-sdk/client';
import { useHelixChat } from 'helix-temporal/ai-sdk/react';
import type { AgentCard } from 'helix-temporal/protocol';
import type { UIMessage } from 'ai';
import { useState } from 'react';
import { Composer } from './composer.js';
import { Message } from './message.js';

interface Props {
  id: string;
  snapshot: FrontendSnapshot;
  agent: AgentCard | undefined;
}

export function Chat({ id, snapshot, agent }: Props) {
  const [transport] = useState(() => createResumableChatTransport({ api: '/api/chat' }));
  const [questions, setQuestions] = useState(snapshot.pending ?? []);
  const chat = useHelixChat<UIMessage>({
    id,
    transport,
    messages: snapshot.messages,
    pending: snapshot.pending,
    resume: snapshot.status === 'active' || snapshot.status === 'paused',
    // Shows answers that were given on another device.
    eventsUrl: `/api/chat/${id}/events`,
    resumeFromSequence: snapshot.streamSequence,
    onSessionEvent: ({ pending }) => setQuestions(pending),
  });
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming';
  const send = (text: string) => void chat.sendMessage({ text });
  // A run outlives its page, so the server must stop it.
  const stop = () =>
    void fetch(`/api/chat/${id}/stop`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });

  return (
    <main>
      {/* A layout from the end makes the browser keep the newest line in view. */}
      <div className="scroll" tabIndex={0}>
        <div role="log" aria-label="Conversation">
          {chat.messages.length === 0 && <Welcome agent={agent} onChoose={send} />}
          {chat.messages.map((message) => (
            <Message
              key={message.id}
              message={message}
              tools={agent?.tools ?? []}
              questions={questions}
              onAnswer={chat.addToolApprovalResponse}
            />
          ))}
          {chat.error && (
            <p role="alert">
              {chat.error.message} <button onClick={() => void chat.retry()}>Try again</button>
            </p>
          )}
        </div>
      </div>
      <Composer isBusy={isBusy} onSend={send} onStop={stop} />
    </main>
  );
}

function Welcome({ agent, onChoose }: Pick<Props, 'agent'> & { onChoose: (text: string) => void }) {
  return (
    <div className="welcome">
      <p>{agent?.description ?? 'How can I help?'}</p>
      {agent?.openers.map(({ label, text }) => (
        <button key={label} onClick={() => onChoose(text)}>
          {label}
        </button>
      ))}
    </div>
  );
}

import {
  Conversation,
  ConversationContent,
  ConversationScrollButton,
} from '@/components/ai-elements/conversation';
import { Message, MessageContent, MessageResponse } from '@/components/ai-elements/message';
import { Button } from '@/components/ui/button';
import type { FormEvent } from 'react';
import { useHelixChat } from 'helix-temporal/ai-sdk/react';
import { Call } from './call';

type Options = Parameters<typeof useHelixChat>[0];

export function App({ options }: { options: Options }) {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useHelixChat(options);

  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text')).trim();
    if (text === '') return;
    form.reset();
    void sendMessage({ text });
  }

  return (
    <main className="mx-auto flex h-dvh max-w-3xl flex-col" data-status={status}>
      <Conversation>
        <ConversationContent>
          {messages.map(({ id, role, parts }) => (
            <Message data-role={role} from={role} key={id}>
              <MessageContent>
                {parts.map((part, at) => {
                  if (part.type === 'text')
                    return role === 'user' ? (
                      <p key={at}>{part.text}</p>
                    ) : (
                      <MessageResponse key={at}>{part.text}</MessageResponse>
                    );
                  if (part.type !== 'dynamic-tool') return null;
                  return (
                    <Call key={part.toolCallId} decide={addToolApprovalResponse} part={part} />
                  );
                })}
              </MessageContent>
            </Message>
          ))}
        </ConversationContent>
        <ConversationScrollButton aria-label="To the end" />
      </Conversation>
      {error && (
        <p className="px-4 text-destructive text-sm" role="alert">
          {error.message}
        </p>
      )}
      <form className="flex gap-2 p-4" onSubmit={send}>
        <textarea
          aria-label="Message"
          className="min-w-0 flex-1 rounded-md border p-2 text-sm"
          name="text"
        />
        <Button type="submit">Send</Button>
      </form>
    </main>
  );
}

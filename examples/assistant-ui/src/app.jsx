import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
} from '@assistant-ui/react';
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk';
import { useHelixChat } from 'helix-temporal/ai-sdk/react';

export function App({ options }) {
  const chat = useHelixChat(options);
  const runtime = useAISDKRuntime(chat, { cancelPendingToolCallsOnSend: false });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root data-status={chat.status}>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        {chat.error && <p role="alert">{chat.error.message}</p>}
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

const PARTS = { Text, tools: { Fallback: Tool } };

function UserMessage() {
  return (
    <MessagePrimitive.Root data-role="user">
      <MessagePrimitive.Parts components={PARTS} />
    </MessagePrimitive.Root>
  );
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root data-role="assistant">
      <MessagePrimitive.Parts components={PARTS} />
    </MessagePrimitive.Root>
  );
}

function Text({ text }) {
  return <p>{text}</p>;
}

function Tool({ toolName, argsText, approval, respondToApproval }) {
  const isAsked = approval !== undefined && approval.approved === undefined;
  return (
    <section>
      {toolName} {argsText}
      {isAsked && (
        <>
          <button onClick={() => respondToApproval({ approved: true })}>Approve</button>
          <button onClick={() => respondToApproval({ approved: false })}>Deny</button>
        </>
      )}
    </section>
  );
}

import type { UIMessage, UIMessagePart, UIToolPart } from '../../ai-sdk/index.js';
import type { AgUiShown } from '../../protocol/ag-ui.js';

/** Stored messages as an AG-UI client keeps them: one for each text, and one for each result. Pure. */
export function toShownMessages(messages: readonly UIMessage[]): AgUiShown[] {
  return messages.flatMap((message): AgUiShown[] => {
    if (message.role === 'assistant') return toReply(message);
    const content = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return [{ id: message.id, role: 'user', content }];
  });
}

type Reply = Extract<AgUiShown, { role: 'assistant' }>;

function toReply({ id, parts }: UIMessage): AgUiShown[] {
  const shown: AgUiShown[] = [];
  let results: AgUiShown[] = [];
  let open: Reply | undefined;
  const add = <M extends AgUiShown>(message: Omit<M, 'id'>): M => {
    const added = { id: `${id}-${String(shown.length + results.length + 1)}`, ...message } as M;
    shown.push(added);
    return added;
  };
  const endStep = (): void => {
    // Results follow the message with their calls.
    shown.push(...results);
    results = [];
    open = undefined;
  };
  for (const part of parts) {
    if (part.type === 'step-start') endStep();
    else if (part.type === 'text') open = add<Reply>({ role: 'assistant', content: part.text });
    else if (part.type === 'reasoning') add({ role: 'reasoning', content: part.text });
    else if (isCall(part)) {
      open ??= add<Reply>({ role: 'assistant' });
      (open.toolCalls ??= []).push(toCall(part));
      const content = readResult(part);
      const { toolCallId } = part;
      if (content !== undefined) {
        results.push({ id: `${id}-${toolCallId}`, role: 'tool', toolCallId, content });
      }
    }
  }
  endStep();
  return shown;
}

function isCall(part: UIMessagePart): part is UIToolPart {
  return part.type === 'dynamic-tool';
}

function toCall({
  toolCallId: id,
  toolName: name,
  input,
}: UIToolPart): NonNullable<Reply['toolCalls']>[number] {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } };
}

function readResult(part: UIToolPart): string | undefined {
  if (part.state === 'output-available') return toResultText(part.output);
  if (part.state === 'output-error') return toResultText({ error: part.errorText });
  return part.state === 'output-denied' ? toResultText({ denied: true }) : undefined;
}

/** A result as the text that AG-UI has for it. Pure. */
export function toResultText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output ?? null);
}

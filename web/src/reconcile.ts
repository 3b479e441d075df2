import { isToolUIPart, type UIMessage } from 'ai';
import type { ToolPart } from './tool-state.js';

/** What the page shows after a look at the server, and what the server does not have yet. */
export interface Reconciled {
  messages: UIMessage[];
  /** The message sent last, if the server never took it. */
  undelivered: UIMessage | undefined;
  /** Whether answers given here are missing there. */
  answersKept: boolean;
}

/**
 * The server's record decides. Only two things that exist nowhere else are carried over: the last
 * message of the person, and answers that the server still asks for.
 */
export function reconcile(server: UIMessage[], local: UIMessage[]): Reconciled {
  const answers = givenAnswers(local);
  const newest = server.at(-1);
  let answersKept = false;
  const messages = server.map((message) => {
    if (message !== newest || answers.size === 0) return message;
    const parts = message.parts.map((part) => {
      if (!isToolUIPart(part) || !isOpen(part)) return part;
      const answered = answers.get(part.toolCallId);
      if (answered !== undefined) answersKept = true;
      return answered ?? part;
    });
    return { ...message, parts };
  });

  const last = local.at(-1);
  const delivered = last?.role !== 'user' || server.some(({ id }) => id === last.id);
  return { messages, answersKept, undelivered: delivered ? undefined : last };
}

function givenAnswers(messages: UIMessage[]): Map<string, ToolPart> {
  const answers = new Map<string, ToolPart>();
  for (const part of messages.at(-1)?.parts ?? []) {
    if (isToolUIPart(part) && isAnswer(part)) answers.set(part.toolCallId, part);
  }
  return answers;
}

/** What the person said to an approval, or the page to a tool of its own. */
function isAnswer(part: ToolPart): boolean {
  if (part.state === 'approval-responded') return true;
  const isResult = part.state === 'output-available' || part.state === 'output-error';
  return isResult && part.providerExecuted !== true && part.approval === undefined;
}

function isOpen(part: ToolPart): boolean {
  if (part.state === 'approval-requested') return true;
  return part.state === 'input-available' && part.providerExecuted !== true;
}

/** The words of a message, for giving them back to the composer. */
export function textOf(message: UIMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

import type { UIMessage, UIMessagePart, UIToolPart } from '../../../ai-sdk/index.js';
import type { AgUiShown } from './protocol.js';

/**
 * Returns the id of one of the several messages that an AG-UI client sees of a turn: the turn's id with a
 * stable number. Clients keep messages with known ids in place and append others. Pure.
 *
 * @param tailFrom sequence where the rest of a turn begins, for a client that does not say what it has
 */
export function toShownId(messageId: string, number: number, tailFrom?: number): string {
  const begin = tailFrom === undefined ? '' : `${String(tailFrom)}-`;
  return `${messageId}-${begin}${String(number)}`;
}

/** Returns the highest number among these ids of a turn's messages; undefined if no id is the turn's. Pure. */
export function findLastShown(messageId: string, ids: readonly string[]): number | undefined {
  const start = `${messageId}-`;
  const numbers = ids.flatMap((id) => {
    const rest = id.startsWith(start) ? id.slice(start.length) : '';
    return /^\d{1,9}$/.test(rest) ? [Number(rest)] : [];
  });
  return numbers.length === 0 ? undefined : numbers.reduce((a, b) => Math.max(a, b));
}

/** Returns the id of the message with a call's result. It cannot equal a numbered id. Pure. */
export function toResultId(messageId: string, toolCallId: string): string {
  return `${messageId}-result-${toolCallId}`;
}

/** Converts stored messages: one for each text and each result. @param results ids that the client gave them */
export function toShownMessages(
  messages: readonly UIMessage[],
  results: ReadonlyMap<string, string>,
): AgUiShown[] {
  return messages.flatMap((message): AgUiShown[] => {
    if (message.role === 'assistant') return toReply(message, results);
    const content = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return [{ id: message.id, role: 'user', content }];
  });
}

type Reply = Extract<AgUiShown, { role: 'assistant' }>;

function toReply({ id, parts }: UIMessage, given: ReadonlyMap<string, string>): AgUiShown[] {
  const shown: AgUiShown[] = [];
  let results: AgUiShown[] = [];
  let open: Reply | undefined;
  let added = 0;
  const add = <M extends AgUiShown>(message: Omit<M, 'id'>): M => {
    added += 1;
    const whole = { id: toShownId(id, added), ...message } as M;
    shown.push(whole);
    return whole;
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
    else if (part.type === 'reasoning') {
      open = undefined;
      add({ role: 'reasoning', content: part.text });
    } else if (isCall(part)) {
      open ??= add<Reply>({ role: 'assistant' });
      (open.toolCalls ??= []).push(toCall(part));
      const content = readResult(part);
      const { toolCallId } = part;
      if (content !== undefined) {
        const resultId = given.get(toolCallId) ?? toResultId(id, toolCallId);
        results.push({ id: resultId, role: 'tool', toolCallId, content });
      }
    }
  }
  endStep();
  return shown;
}

function isCall(part: UIMessagePart): part is UIToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

function toCall(part: UIToolPart): NonNullable<Reply['toolCalls']>[number] {
  const { toolCallId: id, input } = part;
  const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input ?? {}) },
  };
}

function readResult(part: UIToolPart): string | undefined {
  if (part.state === 'output-available') return toResultText(part.output);
  if (part.state === 'output-error') return toResultText({ error: part.errorText });
  return part.state === 'output-denied' ? toResultText({ denied: true }) : undefined;
}

export function toResultText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output ?? null);
}

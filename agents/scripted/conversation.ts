import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';

/** The turn a prompt ends in: its newest user message and what followed. */
export interface Turn {
  /** Text of the newest user message; empty without one. */
  readonly userText: string;
  /** Messages after it, oldest first. */
  readonly since: LanguageModelV4Prompt;
  /** Model calls the turn has had: assistant messages since the user message. */
  readonly calls: number;
}

/** The turn that a prompt ends in, read from nothing but the prompt. */
export function toTurn(prompt: LanguageModelV4Prompt): Turn {
  // Messages that the runtime adds are not the user's.
  const index = prompt.findLastIndex(
    ({ role, providerOptions }) => role === 'user' && providerOptions?.helix?.internal !== true,
  );
  const user = prompt[index];
  const since = prompt.slice(index + 1);
  return {
    userText: user === undefined ? '' : toMessageText(withoutFiles(user)),
    since,
    calls: since.filter(({ role }) => role === 'assistant').length,
  };
}

/** Text files are text of the message, but not what the user wrote. */
function withoutFiles(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'user') return message;
  const content = message.content.filter((part) => part.providerOptions?.helix?.file !== true);
  return { ...message, content };
}

/** The text of a message: its text parts; for a tool message the results, one a line. */
export function toMessageText(message: LanguageModelV4Message): string {
  if (message.role === 'system') return message.content;
  if (message.role === 'tool') {
    return message.content
      .filter((part) => part.type === 'tool-result')
      .map(({ output }) => toOutputText(output))
      .join('\n');
  }
  // Reasoning and calls are not part of the visible text.
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** A tool's output as text: text as it is, everything else as JSON. */
function toOutputText(output: LanguageModelV4ToolResultPart['output']): string {
  if (output.type === 'execution-denied') return output.reason ?? 'execution denied';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}

/** The conversation as JSON: an array of `{role, text, files?}`, files as `<media type>, <bytes> bytes`. */
export function toQuote(prompt: LanguageModelV4Prompt): string {
  return JSON.stringify(
    prompt.map((message) => {
      const files = toFiles(message);
      const quoted = { role: message.role, text: toMessageText(message) };
      return files.length === 0 ? quoted : { ...quoted, files };
    }),
  );
}

function toFiles(message: LanguageModelV4Message): string[] {
  if (message.role !== 'user') return [];
  return message.content.flatMap((part) => {
    if (part.type !== 'file') return [];
    const { data, mediaType } = part;
    if (data.type !== 'data') return `${mediaType}, ${data.type}`;
    const { byteLength } =
      typeof data.data === 'string' ? Buffer.from(data.data, 'base64') : data.data;
    return `${mediaType}, ${String(byteLength)} bytes`;
  });
}

import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';

/** The last turn of a prompt: its newest user message and everything after it. */
export interface Turn {
  /** Text of the newest user message; empty without one. */
  readonly userText: string;
  /** Messages after it, oldest first. */
  readonly since: LanguageModelV4Prompt;
  /** Number of the turn's model calls: assistant messages after the user message. */
  readonly calls: number;
}

/** Reads the last turn from the prompt alone. */
export function toTurn(prompt: LanguageModelV4Prompt): Turn {
  // The runtime's own messages are not the user's.
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

/** Removes text files, which the user attached but did not write. */
function withoutFiles(message: LanguageModelV4Message): LanguageModelV4Message {
  if (message.role !== 'user') return message;
  const content = message.content.filter((part) => part.providerOptions?.helix?.file !== true);
  return { ...message, content };
}

/** Returns the text parts of a message; for a tool message the results, one per line. */
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

/** Returns a tool's output: a text unchanged, other values as JSON. */
function toOutputText(output: LanguageModelV4ToolResultPart['output']): string {
  if (output.type === 'execution-denied') return output.reason ?? 'execution denied';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}

/** Returns a JSON array of `{role, text, files?}`, files as `<media type>, <bytes> bytes`. */
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

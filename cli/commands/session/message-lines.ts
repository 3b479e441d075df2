import { shownJson, shownText } from '../../output/shown-text.js';
import type { Terminal } from '../../terminal.js';

/** A UI message of the AI SDK, as far as it is printed. */
export interface ShownMessage {
  id: string;
  role: string;
  parts: Part[];
}

interface Part {
  type: string;
  text?: string;
  toolName?: string;
  state?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  filename?: string;
}

/** A message as lines: its role, then its texts and calls. */
export function toMessageLines(
  { role, parts }: ShownMessage,
  terminal: Pick<Terminal, 'style'>,
): string[] {
  return [terminal.style('bold', role), ...parts.flatMap(toPartLines)];
}

function toPartLines(part: Part): string[] {
  if (part.type === 'text') return indent(part.text ?? '');
  if (part.type === 'file') return indent(`[file ${part.filename ?? ''}]`);
  if (part.toolName === undefined) return [];
  const call = `${part.toolName} ${shownJson(part.input)} ${part.state ?? ''}`;
  if (part.errorText !== undefined) return indent(`→ ${call}: ${part.errorText}`);
  const result = part.output === undefined ? '' : `: ${shownJson(part.output)}`;
  return indent(`→ ${call}${result}`);
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${shownText(line)}`);
}

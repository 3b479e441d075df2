import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { AssistantPart } from '../../protocol/rows.js';

type Asked = Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>;
type Message = LanguageModelV4Prompt[number];
type Part = Exclude<Message['content'], string>[number];

/**
 * What people and a model wrote in a call of a model, in the form of OpenTelemetry's conventions: messages of parts.
 * Files are named, not copied. Pure.
 */
export function toChatContent(
  { prompt, tools }: Asked,
  reply: { parts: readonly AssistantPart[]; finishReason: string | undefined },
  inputOf: (toolCallId: string) => unknown,
): Record<string, unknown> {
  const system = prompt.filter(({ role }) => role === 'system');
  const messages = prompt.filter(({ role }) => role !== 'system');
  const output = {
    role: 'assistant',
    // The reply's own calls get their inputs when the step is stored.
    parts: reply.parts
      .map((part) =>
        part.type === 'tool-call' ? { ...part, input: inputOf(part.toolCallId) } : part,
      )
      .map(toPart),
    finish_reason: reply.finishReason,
  };
  return {
    'gen_ai.system_instructions':
      system.length === 0 ? undefined : system.flatMap(({ content }) => toParts(content)),
    'gen_ai.input.messages': messages.map(({ role, content }) => ({
      role,
      parts: toParts(content),
    })),
    'gen_ai.output.messages': [output],
    'gen_ai.tool.definitions': tools?.map((tool) =>
      tool.type === 'function'
        ? {
            type: 'function',
            name: tool.name,
            description: tool.description,
            parameters: tool.inputSchema,
          }
        : { type: tool.type, name: tool.name },
    ),
  };
}

function toParts(content: Message['content']): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', content }] : content.map(toPart);
}

function toPart(part: Part | AssistantPart): unknown {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call': {
      const { toolCallId: id, toolName: name, input } = part;
      return { type: 'tool_call', id, name, arguments: input };
    }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.output };
    default:
      return { type: part.type };
  }
}

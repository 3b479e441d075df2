import { type ToolModelContent, toContent } from './tool-content.js';
import type { ToModelOutput } from '../tool-config.js';

/** The result of a call as the model gets it: texts as texts, images as images. */
export const toMcpModelOutput: ToModelOutput = ({ output }) => {
  const { content = [], structuredContent } = (output ?? {}) as {
    content?: unknown[];
    structuredContent?: unknown;
  };
  const value: ToolModelContent[] = content.map(toContent);
  if (value.length === 0) {
    return structuredContent === undefined
      ? { type: 'text', value: '' }
      : { type: 'json', value: structuredContent as never };
  }
  const [first] = value;
  if (value.length === 1 && first?.type === 'text') return { type: 'text', value: first.text };
  return { type: 'content', value };
};

import { tool as aiTool } from 'ai';
import { z } from 'zod';
import { DefinitionError } from '../../agents/index.js';

/** A tool as its author writes it. */
export const tool = {
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number() }),
  execute: (): number => 1,
};
/** A tool of the AI SDK. */
export const weather = aiTool({ inputSchema: z.object({}), execute: () => 1 });

/** The message of the DefinitionError that a definition throws. */
export function refusalOf(define: () => unknown): string {
  try {
    define();
  } catch (error) {
    expect(error).toBeInstanceOf(DefinitionError);
    return (error as Error).message;
  }
  return 'accepted';
}

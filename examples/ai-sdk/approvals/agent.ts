import { tool, type ModelMessage, type ToolApprovalResponse } from 'ai';
import { ToolLoopAgent } from 'helix-temporal/runtime-js';
import { z } from 'zod';

/** Files that were really removed. */
export const removed: string[] = [];

export const agent = new ToolLoopAgent({
  id: 'cleaner',
  model: 'openai/gpt-5',
  instructions: 'You keep a folder tidy. Do not repeat what was not approved.',
  tools: {
    remove: tool({
      description: 'Removes a file.',
      inputSchema: z.object({ file: z.string() }),
      // Temporary files need no approval. AI SDK 7 also has toolApproval for this.
      // oxlint-disable-next-line typescript/no-deprecated -- It is the only way of AI SDK 6.
      needsApproval: ({ file }) => !file.endsWith('.tmp'),
      execute: async ({ file }) => {
        removed.push(file);
        return { removed: file };
      },
    }),
  },
});

/** Asks a person about each call that needs approval and returns the final text. */
export async function tidy(prompt: string, approve: (file: string) => boolean): Promise<string> {
  const messages: ModelMessage[] = [{ role: 'user', content: prompt }];
  for (;;) {
    const result = await agent.generate({ messages });
    messages.push(...result.responseMessages);
    const answers: ToolApprovalResponse[] = [];
    for (const part of result.content) {
      if (part.type !== 'tool-approval-request') continue;
      const { file } = part.toolCall.input as { file: string };
      const { approvalId } = part;
      answers.push({ type: 'tool-approval-response', approvalId, approved: approve(file) });
    }
    if (answers.length === 0) return result.text;
    messages.push({ role: 'tool', content: answers });
  }
}

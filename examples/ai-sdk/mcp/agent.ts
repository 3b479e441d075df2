import { createMCPClient, type MCPTransport } from '@ai-sdk/mcp';
import { ToolLoopAgent } from 'helix-temporal/runtime-js';

/** Asks an agent that uses the tools of an MCP server. */
export async function askNotes(transport: MCPTransport, prompt: string): Promise<string> {
  const client = await createMCPClient({ transport });
  try {
    const agent = new ToolLoopAgent({
      id: 'notes',
      model: 'openai/gpt-5',
      instructions: 'You answer from the notes.',
      tools: await client.tools(),
    });
    const { text } = await agent.generate({ prompt });
    return text;
  } finally {
    await client.close();
  }
}

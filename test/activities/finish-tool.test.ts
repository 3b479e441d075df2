import { Output } from 'ai';
import { z } from 'zod';
import { toFinishTool } from '../../activities/model/finish-tool.js';
import { toOutputSchema } from '../../agents/ai-sdk/output-schema.js';
import type { AgentDefinition } from '../../agents/index.js';

it('a recursive result that is no object is offered with the definitions that it refers to', async () => {
  interface Node {
    children: Node[];
  }
  const node: z.ZodType<Node> = z.object({ children: z.lazy(() => z.array(node)) });
  const text: z.ZodType = z.union([z.string(), z.array(z.lazy(() => text))]);
  for (const schema of [
    z.array(node),
    toOutputSchema(Output.object({ schema: z.union([node, z.string()]) }), 'a'),
    toOutputSchema(Output.object({ schema: text }), 'a'),
  ]) {
    const agent = { outputSchema: schema, llmConfig: {} } as AgentDefinition;
    const { tool } = (await toFinishTool(agent)) ?? {};
    const json = JSON.stringify(tool?.inputSchema);
    const refs = [...json.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(refs).not.toEqual([]);
    expect(json).not.toContain('"$ref":"#"');
    for (const ref of refs) expect(tool).toHaveProperty(['inputSchema', ...ref.split('/')]);
  }
});

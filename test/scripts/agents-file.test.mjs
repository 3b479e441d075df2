import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkAgents } from '../../scripts/start/check-agents.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

const tempFolder = useTempFolders();

const TOP = `
import { AgentRegistry, defaultAgentRegistry, defineAgent } from 'helix-temporal';
import { tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
const agent = (name: string, tools: any = []) =>
  defineAgent({ name, systemPrompt: '', tools, llmConfig: { model: 'openai/gpt-5' } });
const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: () => 'fine' });
`;

/** The names of the agents that a file has. */
async function namesIn(text) {
  const folder = tempFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(projectRoot, join(folder, 'node_modules/helix-temporal'));
  for (const name of ['ai', 'zod']) {
    symlinkSync(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name));
  }
  writeText(folder, 'agents.ts', TOP + text);
  return checkAgents('./agents.ts', { folder });
}

test.each([
  ['by default', `export default agent('one');`, ['one']],
  ['by name', `export const b = agent('two'); export const a = agent('one');`, ['one', 'two']],
  ['in a list', `export default [agent('one'), agent('two')];`, ['one', 'two']],
  ['twice, the same', `export const a = agent('one'); export default [a];`, ['one']],
  ['as a registry', `export const all = new AgentRegistry([agent('one')]);`, ['one']],
  ['in the registry of the process', `defaultAgentRegistry.register(agent('one'));`, ['one']],
  [
    'with tools of the AI SDK',
    `export { weather }; export default agent('one', { weather });`,
    ['one'],
  ],
  ['as tools alone', `export const tools = { weather };`, ['assistant']],
  ['as one tool', `export { weather };`, ['assistant']],
  [
    'as agents of the AI SDK',
    `const settings = { model: 'openai/gpt-5', tools: { weather } };
     export const guide = new ToolLoopAgent(settings);
     export default new ToolLoopAgent({ ...settings, id: 'main' });`,
    ['main', 'guide'],
  ],
])('agents are exported %s', async (_name, text, names) => {
  await expect(namesIn(text)).resolves.toEqual(names);
});

test('two registries are refused', async () => {
  const text = `export const a = new AgentRegistry(); export const b = new AgentRegistry();`;
  await expect(namesIn(text)).rejects.toThrow('agents.ts exports more than one registry.');
});

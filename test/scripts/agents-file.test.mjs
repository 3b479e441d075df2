import { loadAgentsFile } from '../../dist/extensions/own-files/index.js';
import { checkAgents } from '../../scripts/start/check-agents.mjs';
import { createOwnProject } from '../support/own-project.js';

const TOP = `
import { AgentRegistry, defaultAgentRegistry, defineAgent } from 'helix-temporal';
import { tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
const agent = (name: string, tools: any = []) =>
  defineAgent({ name, systemPrompt: '', tools, llmConfig: { model: 'openai/gpt-5' } });
const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: () => 'fine' });
`;

/** Creates a user's project with this file of agents. */
function projectWith(text) {
  const { folder, close } = createOwnProject({ 'agents.ts': TOP + text });
  atEndOfFile(close);
  return folder;
}

async function namesIn(text) {
  const agents = await loadAgentsFile('./agents.ts', { folder: projectWith(text) });
  return agents.getRegisteredTypes();
}

// Registrations stay in the process, so `npm start` checks agents in a separate one.
test('agents are registered in the registry of the process', async () => {
  const folder = projectWith(`defaultAgentRegistry.register(agent('one'));`);
  await expect(checkAgents('./agents.ts', { folder })).resolves.toEqual(['one']);
});

test.each([
  ['by default', `export default agent('one');`, ['one']],
  ['by name', `export const b = agent('two'); export const a = agent('one');`, ['one', 'two']],
  ['in a list', `export default [agent('one'), agent('two')];`, ['one', 'two']],
  ['twice, the same', `export const a = agent('one'); export default [a];`, ['one']],
  ['as a registry', `export const all = new AgentRegistry([agent('one')]);`, ['one']],
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

test.each([
  [
    'exports two registries',
    'export const a = new AgentRegistry(); export const b = new AgentRegistry();',
    'agents.ts exports more than one registry.',
  ],
  [
    'names an agent twice',
    `export const a = agent('twin'); export const b = agent('twin');`,
    'agents.ts cannot be used: Agent "twin": another agent is registered under this name',
  ],
  ['exports nothing', 'export const n = 1;', 'agents.ts exports no agents: export what'],
  ['throws', 'throw new Error("no shop");', 'agents.ts cannot be loaded: no shop (agents.ts:'],
  [
    'imports a package that is not there',
    `import 'no-such-package';`,
    `Cannot find module 'no-such-package'; it is not installed here: npm i no-such-package`,
  ],
  [
    'imports a file that is not there',
    `import './prices.js';`,
    `agents.ts cannot be loaded: Cannot find module './prices.js'`,
  ],
])('a file that %s is refused with a sentence', async (_name, text, sentence) => {
  await expect(namesIn(text)).rejects.toThrow(sentence);
});

test('a file that is not there is named with its folder', async () => {
  const { folder, close } = createOwnProject();
  atEndOfFile(close);
  await expect(loadAgentsFile('./agents.ts', { folder })).rejects.toThrow(
    `There is no file agents.ts in ${folder}.`,
  );
});

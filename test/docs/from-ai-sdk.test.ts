import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const projectRoot = join(import.meta.dirname, '../..');
const page = readFileSync(join(projectRoot, 'docs/from-ai-sdk.md'), 'utf8');
const programs = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
const data = join(projectRoot, '.data');
mkdirSync(data, { recursive: true });
// The folder lies inside the project, so that its name resolves to the package.
const folder = mkdtempSync(join(data, 'guide-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Describes the agent and executes its first tool, as a worker would. */
const PROBE = `
const { agent } = await import(process.argv[2]);
const [weather] = agent.tools;
const context = { toolCallId: 'c1', idempotencyKey: 'key', abortSignal: new AbortController().signal };
const { name, systemPrompt, stopWhen, llmConfig, tools } = agent;
console.log(JSON.stringify({
  name, systemPrompt, llmConfig,
  stops: await stopWhen({ steps: Array(5).fill({ toolCalls: [{ toolName: 'book' }] }) }),
  asks: tools.filter((tool) => tool.requireApproval === true).map((tool) => tool.name),
  result: await weather.execute({ city: 'Rome' }, { ...context, showPreliminary() {} }),
}));`;

describe('the guide for users of the AI SDK', () => {
  it.each([
    [0, { celsius: 21 }, []],
    [1, { key: 'key' }, ['book']],
  ])('has programs that run: %i', (at, result, asks) => {
    const target = ts.ScriptTarget.ES2022;
    const compilerOptions = { module: ts.ModuleKind.ESNext, target };
    const file = join(folder, `guide-${String(at)}.mjs`);
    writeFileSync(file, ts.transpileModule(programs[at] ?? '', { compilerOptions }).outputText);
    writeFileSync(join(folder, 'probe.mjs'), PROBE);
    const output = execFileSync(process.execPath, [join(folder, 'probe.mjs'), file]);
    expect(JSON.parse(output.toString())).toMatchObject({
      name: 'guide',
      systemPrompt: 'You plan day trips.',
      llmConfig: { model: 'openai/gpt-5' },
      stops: true,
      asks,
      result: { city: 'Rome', ...result },
    });
  });
});

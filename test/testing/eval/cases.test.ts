import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineAgent, type AgentDefinition, type ScriptStep } from '../../../agents/index.js';
import { runCases } from '../../../cli/eval/run-cases.js';
import {
  createScriptedModel,
  createTestRuntime,
  evaluateCase,
  parseCase,
  type EvalCase,
} from '../../../testing/index.js';
import { toJUnit } from '../../../testing/eval/index.js';
import { runCommand } from '../../support/command-line.js';
import { createOwnProject } from '../../support/own-project.js';
import { fakeTool } from '../../support/fake-tool.js';

let executed = 0;
const tools = [
  fakeTool(
    'lookUp',
    ({ order }) => {
      executed += 1;
      if (order === 'lost') throw new Error('There is no such order.');
      return { order, total: 20 };
    },
    { inputSchema: z.object({ order: z.string(), deep: z.boolean().default(false) }) },
  ),
  fakeTool(
    'refund',
    ({ amount }) => {
      executed += 1;
      return { paid: amount };
    },
    { inputSchema: z.object({ amount: z.number() }), requireApproval: true },
  ),
  fakeTool('locate', 'client'),
];

function desk(script: readonly ScriptStep[], systemPrompt = 'Help.'): AgentDefinition {
  const model = createScriptedModel(script);
  return defineAgent({ name: 'desk', systemPrompt, tools, llmConfig: { model } });
}

const lookUp = (order: string, id: string): ScriptStep => ({
  calls: [{ tool: 'lookUp', id, args: { order } }],
});
const refund = (amount: number, id: string): ScriptStep => ({
  calls: [{ tool: 'refund', id, args: { amount } }],
});
const SCRIPT: ScriptStep[] = [
  lookUp('o1', 'c1'),
  {
    calls: [
      { tool: 'locate', id: 'c2' },
      { tool: 'refund', id: 'c3', args: { amount: 20 } },
    ],
  },
  { say: 'You get 15 back.' },
  refund(5, 'c4'),
  { say: 'Not more.' },
  lookUp('lost', 'c5'),
  { say: 'It is lost.' },
];

let recorded: EvalCase;

beforeAll(async () => {
  const runtime = await createTestRuntime({ agents: [desk(SCRIPT)] });
  let run = await runtime.run('desk', 'My tea was cold.');
  run = await run.answer('locate', { result: { city: 'Rome' } });
  run = await run.approve('refund', { input: { amount: 15 }, by: 'ann' });
  run = await run.expectStatus('completed').send('And more.');
  run = await run.deny('refund', { reason: 'enough' });
  run = await run.send('Where is my other order?');
  run.expectStatus('completed').expectText('It is lost.');
  recorded = parseCase(JSON.stringify(await runtime.record(run.sessionId, 'cold-tea')));
  await runtime.close();
  expect(executed).toBe(3);
  executed = 0;
});

describe('a recorded case', () => {
  it('a case has turns, calls, results and decisions', () => {
    expect(recorded).toMatchObject({ helixCase: 1, agent: 'desk', status: 'completed' });
    expect(recorded.turns.map(({ text }) => text)).toEqual([
      'You get 15 back.',
      'Not more.',
      'It is lost.',
    ]);
    expect(recorded.turns[0]?.calls).toMatchObject([
      { tool: 'lookUp', input: { order: 'o1' }, result: { output: { total: 20 } } },
      { tool: 'locate', result: { output: { city: 'Rome' } } },
      { tool: 'refund', decision: { approved: true, input: { amount: 15 } } },
    ]);
    expect(recorded.turns[1]?.calls).toMatchObject([
      { decision: { approved: false, reason: 'enough' }, result: { denied: true } },
    ]);
    expect(recorded.turns[2]?.calls).toMatchObject([{ result: { error: expect.any(String) } }]);
    expect(recorded.usage?.inputTokens).toBeGreaterThan(0);
  });

  it('an unchanged agent differs in nothing, twice, and executes nothing', async () => {
    for (let time = 0; time < 2; time += 1) {
      const report = await evaluateCase(recorded, { agents: [desk(SCRIPT)] });
      expect(report.failures).toEqual([]);
      expect(report.lanes.map(({ lane, differences }) => [lane, differences])).toEqual([
        ['observed', []],
        ['candidate', []],
      ]);
      expect(report.lanes.map(({ steps }) => steps)).toEqual([7, 7]);
      expect(report.lanes.at(-1)?.inputTokens).toBeGreaterThan(0);
    }
    expect(executed).toBe(0);
  });

  it('a changed prompt that makes the agent call another tool is named', async () => {
    const changed = desk([refund(20, 'c1'), ...SCRIPT.slice(2)], 'Be quick.');
    const report = await evaluateCase(recorded, {
      agents: [changed],
      baseline: { agents: [desk(SCRIPT)] },
    });
    expect(report.passed).toBe(false);
    const [, baseline, candidate] = report.lanes;
    expect(baseline).toMatchObject({ lane: 'baseline', differences: [] });
    expect(candidate?.differences).toContainEqual({
      in: 'tools',
      text: 'lookUp, locate, refund, refund, lookUp → refund, refund, lookUp',
    });
    expect(executed).toBe(0);
  });

  it('a call that was not recorded is drift, ends its lane, and is executed only if it is live', async () => {
    const agents = [desk([lookUp('o2', 'c1'), ...SCRIPT.slice(1)])];
    const strict = await evaluateCase(recorded, { agents });
    expect(strict.failures[0]).toEqual({
      in: 'drift',
      text: 'lookUp({"order":"o2"}) was not recorded',
    });
    expect(executed).toBe(0);
    const live = await evaluateCase(recorded, { agents, live: ['lookUp'] });
    expect(live.failures).toEqual([]);
    expect(live.lanes.at(-1)?.differences.map((each) => each.in)).toEqual(['arguments']);
    expect(executed).toBe(1);
    executed = 0;
  });

  it('a question that was not asked then is drift', async () => {
    const report = await evaluateCase(recorded, { agents: [desk([refund(99, 'c1')])] });
    expect(report.failures[0]).toEqual({
      in: 'drift',
      text: 'people were not asked about refund({"amount":99})',
    });
    expect(executed).toBe(0);
  });

  it('a file that is no case of this version is refused', () => {
    const read = (value: unknown) => () => parseCase(JSON.stringify(value));
    expect(read({ ...recorded, helixCase: 2 })).toThrow(/version is 2.*reads version 1/);
    expect(read({})).toThrow(/helixCase is missing/);
    expect(read({ ...recorded, turns: [] })).toThrow(/turns/);
    expect(() => parseCase('{')).toThrow(/not JSON/);
  });
});

describe('eval run', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'helix-eval-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('the outcome is written as XML that shows what differs', async () => {
    const agents = [desk([lookUp('<o2>\u0000', 'c1')])];
    const report = await evaluateCase(recorded, { agents });
    const xml = toJUnit([report]);
    expect(xml).toContain('<testsuites tests="1" failures="1" errors="0">');
    expect(xml).toContain('<failure type="drift"');
    expect(xml).toContain('&lt;o2&gt;');
    expect(xml).not.toContain('\u0000');
  });

  it('a folder without cases, and a case of another version, are refused before anything runs', async () => {
    const options = { live: [], env: {}, agents: join(folder, 'agents.ts') };
    await expect(runCases({ ...options, path: folder })).rejects.toMatchObject({ exitCode: 64 });
    const file = join(folder, 'newer.json');
    await writeFile(file, JSON.stringify({ ...recorded, helixCase: 7 }));
    await expect(runCases({ ...options, path: folder })).rejects.toThrow(
      /newer.json.*version is 7/,
    );
    expect(await readFile(file, 'utf8')).toContain('"helixCase":7');
  });

  it('a file of tools only runs with MODEL', async () => {
    const agents = join(folder, 'tools.mjs');
    await writeFile(agents, 'export const look = { description: "Looks.", inputSchema: {} };');
    const path = join(folder, 'case.json');
    await writeFile(path, JSON.stringify(recorded));
    const run = runCases({ path, agents, live: [], env: { MODEL: 'nowhere' } });
    await expect(run).rejects.toThrow(/MODEL is "nowhere"/);
  });

  it('refuses an unknown tool for --live and an unknown model', async () => {
    const agents = join(folder, 'looks.mjs');
    await writeFile(
      agents,
      `const validate = (value) => ({ value });
       const standard = { version: 1, vendor: 'own', validate, jsonSchema: { input: () => ({ type: 'object' }) } };
       export const look = { description: 'Looks.', inputSchema: { '~standard': standard }, execute: () => 1 };`,
    );
    const path = join(folder, 'case.json');
    await writeFile(path, JSON.stringify(recorded));
    // A misspelt name would pass for drift, and nobody would learn why.
    const misspelt = runCases({ path, agents, live: ['lok'], env: { MODEL: 'scripted' } });
    await expect(misspelt).rejects.toThrow(/--live names lok/);
    const unknown = runCases({ path, agents, model: 'nowhere', env: { MODEL: 'scripted' } });
    await expect(unknown).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('nowhere'),
    });
  });

  it('the command ends, with its own exit code, although the agents hold something open', async () => {
    const project = createOwnProject({ 'case.json': JSON.stringify(recorded) });
    project.write(
      'agents.mjs',
      `import { defineAgent } from 'helix-temporal';
       import { createScriptedModel } from 'helix-temporal/testing';
       setInterval(() => undefined, 1_000);
       const model = createScriptedModel([{ say: 'No.' }, { say: 'No.' }, { say: 'No.' }]);
       export const desk = defineAgent({ name: 'desk', systemPrompt: '', llmConfig: { model } });`,
    );
    const run = (...flags: string[]) =>
      runCommand(['eval', 'run', 'case.json', '--agents', 'agents.mjs', ...flags], project);
    try {
      const [failed, passed, unknown] = await Promise.all([
        run(),
        run('--fail-on', 'drift'),
        run('--fail-on', 'taste'),
      ]);
      expect([failed.code, passed.code, unknown.code]).toEqual([1, 0, 64]);
      expect(failed.stdout).toContain('✗ case');
      expect(passed.stdout).toContain('✓ case');
    } finally {
      project.close();
    }
  });
});

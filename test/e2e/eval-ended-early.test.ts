import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand, startCommand } from '../support/command-line.js';
import { createOwnProject } from '../support/own-project.js';
import { until } from '../support/until.js';

it('an evaluation that is ended in its middle leaves what it has found and names what has not run', async () => {
  const turn = { user: [{ parts: [{ type: 'text', text: 'Hi.' }] }], steps: 1, calls: [] };
  const caseOf = (agent: string): string =>
    JSON.stringify({
      helixCase: 1,
      name: agent,
      agent,
      recordedAt: '2026-11-27',
      status: 'completed',
      turns: [{ ...turn, text: 'Hi.' }],
    });
  const project = createOwnProject({
    'cases/1-quick.json': caseOf('quick'),
    'cases/2-silent.json': caseOf('silent'),
    'agents.mjs': `import { defineAgent } from 'helix-temporal';
     import { createScriptedModel } from 'helix-temporal/testing';
     const agent = (name, step) => {
       const model = createScriptedModel([step]);
       return defineAgent({ name, systemPrompt: '', llmConfig: { model } });
     };
     export const quick = agent('quick', { say: 'Hi.' });
     export const silent = agent('silent', { hangMs: 600_000 });`,
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const file = `${signal}.xml`;
    const args = ['eval', 'run', 'cases', '--agents', 'agents.mjs', '--junit', file];
    const command = startCommand(args, project);
    const written = (): Promise<string> =>
      readFile(join(project.folder, file), 'utf8').catch(() => '');
    await until('the first case is written', async () => (await written()).includes('candidate'));
    command.kill(signal);
    await command.ended;
    const xml = await written();
    expect(xml).toContain('<testsuites tests="2" failures="0" errors="1">');
    expect(xml.match(/<(testcase|error|failure) [^>]*"/g)).toEqual([
      expect.stringContaining('name="1-quick"'),
      expect.stringContaining('name="2-silent"'),
      expect.stringContaining('type="not_run"'),
    ]);
    expect(xml.trimEnd()).toMatch(/<\/testsuites>$/);
  };
  try {
    await Promise.all([end('SIGINT'), end('SIGTERM'), end('SIGKILL')]);
    expect((await readdir(project.folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    const nowhere = ['eval', 'run', 'cases', '--agents', 'agents.mjs', '--junit', 'no/such.xml'];
    expect(await runCommand(nowhere, project)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('no/such.xml cannot be written'),
    });
    const folder = ['eval', 'run', 'cases', '--agents', 'agents.mjs', '--junit', 'cases'];
    expect(await runCommand(folder, project)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('cases cannot be written: it is a folder.'),
    });
  } finally {
    project.close();
  }
});

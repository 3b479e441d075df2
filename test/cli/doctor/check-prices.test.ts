import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPrices } from '../../../cli/doctor/examine.js';
import { parseEnv } from '../../../config/env.js';

const judge = async (env: Record<string, string>): Promise<unknown> =>
  (await checkPrices(parseEnv(env), env))[0];

it('agents that a budget is blind to are named, those of a file too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-prices-'));
  const AGENTS = join(folder, 'agents.mjs');
  const { href } = new URL('../../../index.ts', import.meta.url);
  writeFileSync(
    AGENTS,
    `import { defineAgent } from ${JSON.stringify(href)};
     const of = (name, more) => defineAgent({ name, systemPrompt: 'Be brief.', llmConfig: { model: 'openai/gpt-5', ...more } });
     export const agents = [of('dear'), of('priced', { pricing: { inputPerMTok: 1, outputPerMTok: 2 } })];`,
  );
  const BUDGET_USER_DAY_USD = '5';
  expect(await judge({ AGENTS })).toBeUndefined();
  expect(await judge({ AGENTS, BUDGET_USER_DAY_USD })).toMatchObject({
    level: 'warn',
    finding: expect.stringMatching(/: dear\.$/),
  });
  rmSync(folder, { recursive: true });
  expect(await judge({ AGENTS, BUDGET_USER_DAY_USD })).toMatchObject({ level: 'fail' });
  expect(await judge({ BUDGET_USER_DAY_USD })).toMatchObject({ level: 'ok' });
  const MODEL = 'openai:gpt-5';
  expect(await judge({ MODEL, BUDGET_USER_DAY_USD })).toMatchObject({ level: 'warn' });
});

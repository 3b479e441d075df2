import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand } from '../support/command-line.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'helix-init-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('helix-temporal init', () => {
  it('init writes an app that is named after its folder, and says what comes next', async () => {
    const { code, stdout } = await runCommand(['init', 'My Shop!'], { folder });
    expect([code, stdout]).toEqual([0, expect.stringContaining('cd My Shop!\n  npm install')]);
    const files = readdirSync(join(folder, 'My Shop!'));
    expect(files).toEqual(
      expect.arrayContaining(['.gitignore', 'agents.ts', 'compose.yaml', 'src']),
    );
    expect(files).not.toContain('_gitignore');
    const text = readFileSync(join(folder, 'My Shop!/package.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ name: 'my-shop' });
  });

  it('init overwrites nothing', async () => {
    await writeFile(join(folder, 'agents.ts'), 'mine');
    const { code, stderr } = await runCommand(['init'], { folder });
    expect([code, stderr]).toEqual([64, expect.stringContaining('has agents.ts already')]);
    expect(readFileSync(join(folder, 'agents.ts'), 'utf8')).toBe('mine');
    expect(existsSync(join(folder, 'package.json'))).toBe(false);
  });
});

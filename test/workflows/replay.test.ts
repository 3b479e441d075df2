import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { historiesFolder, thisVersion } from './recording/histories.js';
import { replay } from './recording/replay.js';
import { tracesIn } from './recording/scrub.js';

const names = readdirSync(historiesFolder).map((file) => file.replace('.json', ''));
const read = (name: string): Promise<string> => readFile(`${historiesFolder}${name}.json`, 'utf8');

describe('histories of releases', () => {
  it.each(names)('%s replays on the workflow code of today', async (name) => {
    await replay(await read(name));
  });

  it('histories exist for the first release and for this version', () => {
    expect(names).toContain('v0.1.0-approval');
    expect(names.filter((name) => name.startsWith(`v${thisVersion}-`)).length).toBeGreaterThan(30);
  });

  it.each(names)('%s says nothing of where it was recorded', async (name) => {
    expect(tracesIn(await read(name))).toEqual([]);
  });

  it('would tell if the code decided otherwise', async () => {
    const text = (await read('v0.1.0-approval')).replaceAll('"modelStep"', '"otherStep"');
    await expect(replay(text)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

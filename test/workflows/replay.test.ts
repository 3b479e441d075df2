import { readFile } from 'node:fs/promises';
import { historiesFolder, KEPT } from './recording/histories.js';
import { replay } from './recording/replay.js';
import { tracesIn } from './recording/scrub.js';

const read = (name: string): Promise<string> => readFile(`${historiesFolder}${name}.json`, 'utf8');

describe('recorded histories', () => {
  it.each(KEPT)('%s replays on the workflow code of today', async (name) => {
    await replay(await read(name));
  });

  it.each(KEPT)('%s says nothing of where it was recorded', async (name) => {
    expect(tracesIn(await read(name))).toEqual([]);
  });

  it('would tell if the code decided otherwise', async () => {
    const text = (await read('text-alone')).replaceAll('"modelStep"', '"otherStep"');
    await expect(replay(text)).rejects.toThrow(/[Nn]ondeterminism/);
  });
});

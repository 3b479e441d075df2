import { readFileSync } from 'node:fs';
import { compile } from './factories.js';

/** Documents whose programs are all complete. */
const DOCUMENTS = ['in-process', 'testing', 'evaluation', 'from-ai-sdk', 'from-temporal-ai-sdk'];

it('the programs of the documents compile in strict TypeScript', async () => {
  const programs = DOCUMENTS.flatMap((document) => {
    const text = readFileSync(`docs/${document}.md`, 'utf8');
    const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)];
    expect(blocks.length).toBeGreaterThan(0);
    return blocks.map(([, code = ''], at) => [`${document}-${String(at + 1)}`, code] as const);
  });
  const faults = [...(await compile(new Map(programs)))];
  expect(faults.filter(([, found]) => found.length > 0)).toEqual([]);
}, 180_000);

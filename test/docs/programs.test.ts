import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toJavaScript } from '../support/run-source.js';

// The programs in these documents are complete and print the text below them.

const DOCUMENTS = ['in-process', 'testing', 'evaluation'];

interface Program {
  name: string;
  code: string;
  /** Promised output; undefined if the document promises none. */
  prints: string | undefined;
}

async function programsOf(document: string): Promise<Program[]> {
  const text = await readFile(`docs/${document}.md`, 'utf8');
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```)?/gms)];
  return blocks.map(([, code = '', prints], at) => ({
    name: `${document}-${String(at + 1)}`,
    code,
    prints,
  }));
}

const programs = (await Promise.all(DOCUMENTS.map(programsOf))).flat();

describe('the programs in the documents', () => {
  let folder: string;

  beforeAll(async () => {
    // The folder lies below the package's root, so that its name resolves to the build.
    await mkdir('.data', { recursive: true });
    folder = await mkdtemp(join(process.cwd(), '.data', 'programs-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(programs)('$name runs', async ({ name, code, prints }) => {
    const file = join(folder, `${name}.mjs`);
    await writeFile(file, toJavaScript(code));
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    if (prints !== undefined) expect(stdout).toBe(prints);
  });
});

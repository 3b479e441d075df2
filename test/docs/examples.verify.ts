import { compile, findFactories } from './factories.js';

/** Factories without an example yet. */
const WITHOUT_EXAMPLE: string[] = [];

const factories = findFactories();

describe('the factories that the package exports', () => {
  it('each have an example in their comment', () => {
    expect(factories.map(({ name }) => name)).toContain('defineAgent');
    const missing = factories.filter(({ examples }) => examples.length === 0);
    expect(missing.map(({ name }) => name).sort()).toEqual(WITHOUT_EXAMPLE.sort());
  });

  it('every exported factory has an example that compiles in strict TypeScript, against its entry', async () => {
    const examples = new Map(
      factories.flatMap(({ name, entry, examples }) =>
        examples.map((code, at) => {
          expect(code).toMatch(new RegExp(`\\b${name}\\b[^;]*from '${entry}'`));
          return [`example-${name}-${String(at + 1)}`, code] as const;
        }),
      ),
    );
    const faults = [...(await compile(examples))].filter(([, found]) => found.length > 0);
    expect(faults).toEqual([]);
  }, 180_000);

  it('an example with a wrong field does not compile', async () => {
    const wrong = "import { defineTool } from 'helix-temporal';\ndefineTool({ nam: 'x' });";
    const faults = await compile(new Map([['example-wrong', wrong]]));
    expect(faults.get('example-wrong')?.join()).toContain("'nam' does not exist");
  }, 120_000);
});

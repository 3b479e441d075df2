import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTP_STATUS } from '../../protocol/errors.js';

const read = (file) => readFileSync(file, 'utf8');

const WITH_CODES = [
  'protocol',
  'agents',
  'store',
  'runs',
  'worker',
  'activities',
  'workflows',
  'extensions',
  'ai-sdk',
  'api',
];
/** Error codes in code: of thrown errors, of named outcomes, and of calls settled as failed. */
const CODE =
  /(?:\b(?:code|errorCode)(?: =|:)\s+|(?:\w*Error|refusal)\(\s*|toFailure\([^;]*?|refuse\([^;]*?)'([a-z]+(?:_[a-z]+)+)'/g;

function markdownIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

function sourcesWithCodes() {
  return WITH_CODES.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((file) => /\.tsx?$/.test(file) && !file.includes('conformance'))
      .map((file) => read(join(folder, file))),
  );
}

function codesOf(source) {
  return [...source.matchAll(CODE)].map(([, code]) => code);
}

describe('the documentation', () => {
  it('llms.txt names every document once', () => {
    const documents = ['README.md', 'PROTOCOL.md', ...markdownIn('docs')];
    // Readers reach the decisions from their README.
    const own = documents.filter((file) => !/^docs\/decisions\/(?!README)/.test(file));
    const named = [...read('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, file]) => file);
    expect(named).toEqual(expect.arrayContaining(own));
    expect(new Set(named).size).toBe(named.length);
  });

  it('every error code has its line, with its status', () => {
    const lines = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| .{10,} \|$/gm)];
    const found = Object.fromEntries(lines.map(([, code, status]) => [code, Number(status)]));
    expect(found).toEqual(HTTP_STATUS);
  });

  it('errors.md says of every code that the sources give a failure what to do', () => {
    const text = read('docs/errors.md');
    const codes = new Set(sourcesWithCodes().flatMap((source) => codesOf(source)));
    expect(codes.size).toBeGreaterThan(80);
    expect([...codes].filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });

  it('commands name releases of the AI SDK that fit each other, which npm on Node 20 does not choose itself', () => {
    const { dependencies, peerDependencies } = JSON.parse(read('package.json'));
    const ranges = { ...dependencies, ...peerDependencies };
    const files = ['README.md', 'docs', 'examples', 'skills', 'templates'].flatMap((place) =>
      place.endsWith('.md') ? place : markdownIn(place),
    );
    const commands = files.flatMap((file) =>
      read(file)
        .replaceAll('\\\n', ' ')
        .match(/npm i(?:nstall)?\b[^`\n]*/g),
    );
    const named = commands.flatMap(
      (command) => command?.match(/(?<= )(?:ai|@ai-sdk\/[\w<>-]+)(?:@\S+)?/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(3);
    for (const each of named) {
      const [, name, range] = /^(.+?)@(\^\d+)/.exec(each) ?? [undefined, each];
      const known = ranges[name] ?? ranges['@ai-sdk/openai'];
      expect([
        each,
        known
          .split(/\s*\|\|\s*/)
          .at(-1)
          .replace(/\..*/, ''),
      ]).toEqual([each, range]);
    }
  });

  it('install.md names the tarball of this version', () => {
    const { version } = JSON.parse(read('package.json'));
    const named = [...read('docs/install.md').matchAll(/helix-temporal-([\d.]+)\.tgz/g)];
    expect(new Set(named.map(([, of]) => of))).toEqual(new Set([version]));
  });

  it('costs.md has figures of measurements that the bench takes', () => {
    const taken = readdirSync('bench/measures').map((file) => file.replace(/\.ts$/, ''));
    const named = [...read('docs/decisions/costs.md').matchAll(/^\| `([a-z-]+)` \|/gm)];
    expect(named.length).toBeGreaterThan(10);
    expect(named.map(([, name]) => name).filter((name) => !taken.includes(name))).toEqual([]);
  });

  it('ratios and verdicts of costs.md follow from its figures', () => {
    const FIGURES = /([\d.]+)(?: \/ ([\d.]+))? (?:ms|s|KB|MB)\b/;
    const AIM = /^(p99 )?([\d.]+)( ms| s| KB| MB)?, (met|missed)$/;
    const rows = [...read('docs/decisions/costs.md').matchAll(/^\| `([a-z-]+)` \|(.+)\|$/gm)];
    let checked = 0;
    for (const [, name, cells] of rows) {
      const [, own, besides, ratio, aim] = cells.split('|').map((cell) => cell.trim());
      const [value, beside] = [own, besides].map((cell) =>
        FIGURES.exec(cell)?.slice(1).map(Number),
      );
      if (/^[\d.]+$/.test(ratio) && value && beside) {
        const exact = value[0] / beside[0];
        const isRounded = Math.abs(exact - Number(ratio)) <= Math.max(0.006, exact / 50);
        expect([name, ratio, isRounded]).toEqual([name, ratio, true]);
        checked += 1;
      }
      const [, of, limit, unit, verdict] = AIM.exec(aim) ?? [];
      if (verdict === undefined || value === undefined) continue;
      const at = of === undefined ? 0 : 1;
      const ratioOf = () => (at === 0 ? Number(ratio) : value[at] / beside[at]);
      const figure = unit === undefined ? ratioOf() : value[at];
      expect([name, aim, figure <= Number(limit) ? 'met' : 'missed']).toEqual([name, aim, verdict]);
      checked += 1;
    }
    expect(checked).toBeGreaterThan(20);
  });

  it('the package has llms.txt and the skill', () => {
    const { files } = JSON.parse(read('package.json'));
    expect(files).toEqual(expect.arrayContaining(['llms.txt', 'skills']));
    expect(read('skills/helix-temporal/SKILL.md')).toMatch(
      /^---\nname: helix-temporal\ndescription: /,
    );
  });
});

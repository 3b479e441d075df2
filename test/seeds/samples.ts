import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// Reads the code samples of the documents whose names this package honours. They lie beside a
// checkout and are no part of this project.

const FOLDER = join(process.cwd(), '../shared/seeds');

/** False in a clone that has only this project. */
export const areThere = existsSync(FOLDER);

export interface Sample {
  /** Number of the document and line number of the sample's start. */
  name: string;
  code: string;
}

/** First and last lines of samples in documents without marks. */
const UNMARKED: Record<string, (readonly [number, number])[]> = {
  '004': [
    [11, 34],
    [36, 45],
    [49, 52],
    [53, 58],
    [60, 65],
    [82, 90],
    [92, 99],
    [101, 109],
    [111, 115],
    [118, 171],
    [172, 195],
    [206, 212],
  ],
};

export function readSamples(): Sample[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap((file) => {
      const document = file.slice(0, 3);
      const lines = readFileSync(join(FOLDER, file), 'utf8').split('\n');
      const places = UNMARKED[document] ?? placesOf(lines);
      return places.map(([first, last]) => ({
        name: `${document}-${String(first)}`,
        // Prose may follow on the last line.
        code: lines
          .slice(first - 1, last)
          .join('\n')
          .replace(/([;})'(])[A-Z][A-Za-z :]+\(?$/, '$1'),
      }));
    });
}

const MARK = /^(?:typescript|tsx)$/;
const STATEMENT =
  /^(?:import|export|const|let|async|function|for|if|return|await|try|throw|class|interface|type|yield|useResumeClientTools\()\b/;
const PROSE = /^(?:[A-Z\d].*|[a-z_]\w*(?: [\w(].*)?|\s+\d\. .*)$/;
/** Prose directly below the code. */
const CAPTION = /^(?:[A-Z][A-Za-z]+|@\w+ .*)$/;

/** Finds the samples: each begins below its mark and ends where prose begins. */
function placesOf(lines: readonly string[]): [number, number][] {
  const places: [number, number][] = [];
  for (const [at, line] of lines.entries()) {
    if (!MARK.test(line)) continue;
    let last = at + 1;
    for (let next = at + 2; next < lines.length; next += 1) {
      const text = lines[next] ?? '';
      const isProse = lines[next - 1] === '' && PROSE.test(text) && !STATEMENT.test(text);
      if (MARK.test(text) || CAPTION.test(text) || isProse) break;
      if (text !== '') last = next;
    }
    places.push([at + 2, last + 1]);
  }
  return places;
}

const ABRIDGED = 'leaves out what others of the same call have';
const ALTERNATIVES = 'shows two ways under one name';
const ON_PURPOSE = 'shows a mistake';
const CONTRADICTED = 'another of the documents has one status more';

/**
 * Samples that do not compile unchanged: the faults, and the reason or the first cell of a row in
 * docs/from-helix.md.
 */
export const DIFFERENT: Record<string, { faults: readonly string[]; why?: string; row?: string }> =
  {
    '000-104': { faults: ['TS2307'], row: 'Cloudflare and DBOS hosts' },
    '000-125': { faults: ['TS2307'], row: 'Cloudflare and DBOS hosts' },
    '000-816': { faults: ['TS2339'], row: '`data` of `useChat`' },
    '000-990': { faults: ['TS2724'], why: ON_PURPOSE },
    '000-1018': { faults: ['TS2339'], why: ON_PURPOSE },
    '001-79': { faults: ['TS2353', 'TS2451'], row: '`ai/react`, `initialMessages`' },
    '001-330': { faults: ['TS2322'], why: ABRIDGED },
    '002-567': { faults: ['TS18047'], why: ABRIDGED },
    '002-578': { faults: ['TS2322'], why: CONTRADICTED },
    '003-95': { faults: ['TS18047', 'TS2353'], row: '`ai/react`, `initialMessages`' },
    '003-254': { faults: ['TS2339'], row: '`success` of a `tool_end`' },
    '003-495': { faults: ['TS2307'], row: 'Cloudflare and DBOS hosts' },
    '003-531': { faults: ['TS18046', 'TS2739'], why: ABRIDGED },
    '003-637': { faults: ['TS18047'], why: ABRIDGED },
    '003-707': { faults: ['TS18047'], why: ABRIDGED },
    '003-749': { faults: ['TS18047', 'TS2451'], why: ALTERNATIVES },
    '003-783': { faults: ['TS2451'], why: ALTERNATIVES },
    '004-118': { faults: ['TS2307'], row: '`ai/react`, `initialMessages`' },
    '004-172': { faults: ['TS2345', 'TS2353'], row: '`ai/react`, `initialMessages`' },
  };

const PACKAGES: readonly (readonly [string, string])[] = [
  ['@helix-agents/ai-sdk/adapters/express', 'helix-temporal/api'],
  ['@helix-agents/core', 'helix-temporal'],
  ['@helix-agents/', 'helix-temporal/'],
];

/** Replacement files for imports that no package serves, by the imported path. */
const OF_SAMPLES: Record<string, string> = {
  '@/lib/handler': './000-1029.js',
  './lib/handler.js': './000-1029.js',
  './ChatClient': './000-597.js',
  'next/navigation': './next.js',
};

const IMPORT = /^import (?:type )?[^;]*? from '([^']+)';\n?/gm;

/** Maps imports to this package, fills omissions and wraps statements in a function. */
export function toProgram({ name, code }: Sample): string {
  const imports: string[] = [];
  const rest = code
    .replace(IMPORT, (text: string, from: string) => {
      const known = PACKAGES.find(([prefix]) => from.startsWith(prefix));
      const to = OF_SAMPLES[from] ?? (known ? from.replace(known[0], known[1]) : from);
      // Agents take the AI SDK's models directly.
      if (from !== '@helix-agents/llm-vercel') imports.push(text.replace(from, to));
      return '';
    })
    .replaceAll(', new VercelAIAdapter()', '')
    .replaceAll(/\[\.\.\.\]/g, '[]')
    .replaceAll(/\{ ?\.\.\. ?\}/g, '{}')
    .replaceAll(/, \.\.\. \}/g, ' }')
    // A line that begins with a list is a statement of its own.
    .replaceAll(/^\[/gm, ';[')
    .trim();
  const bare = rest.replaceAll(/^\s*\/\/.*\n?/gm, '').trim();
  const body = (bare.startsWith('{') ? `(${rest}\n);` : rest) + readable(name, rest);
  const isModule = /^export /m.test(body);
  return isModule
    ? `${imports.join('')}\n${body}\n`
    : `${imports.join('')}\nexport default async function* sample(): AsyncGenerator<any, any> {\n${body}\n}\n`;
}

/** Returns checks that the package's types can be read as the document's. */
function readable(name: string, code: string): string {
  if (!name.startsWith('002-')) return '';
  return [...code.matchAll(/^(?:export )?interface (\w+)/gm)]
    .map(([, type = '']) => `\n;((ours: import('helix-temporal').${type}): ${type} => ours);`)
    .join('');
}

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

/** A `create…`, `define…` or `use…` function that the package exports. */
export interface Factory {
  name: string;
  /** The package entry that exports it, as programs import it. */
  entry: string;
  /** The code of its `@example` blocks. */
  examples: string[];
}

const FACTORY = /^(?:create|define|use)[A-Z]/;
const root = process.cwd();
const TSC = join(root, 'node_modules/@typescript/native/bin/tsc');
/** The lines below the first are indented. */
const FAULT = /^(?:(\S+)\.tsx\(\d+,\d+\): )?.*error (TS.*(?:\n .*)*)/gm;

/** Returns each entry's source file, by its import name. */
export function entrySources(): Map<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | { types: string }>;
  };
  return new Map(
    Object.entries(exports).flatMap(([entry, target]) => {
      if (typeof target === 'string') return [];
      const source = target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts');
      return [[`${name}${entry.slice(1)}`, join(root, source)] as const];
    }),
  );
}

const sources = entrySources();

const settings = {
  target: 'es2023',
  module: 'nodenext',
  lib: ['es2023', 'es2024.string', 'dom', 'dom.iterable'],
  jsx: 'react-jsx',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  // The package's own name resolves to its sources, so the compiler needs no build.
  paths: Object.fromEntries([...sources].map(([name, file]) => [name, [file]])),
};

/** Finds the factories of all entries; lists one that several entries export once. */
export function findFactories(): Factory[] {
  const { options } = ts.convertCompilerOptionsFromJson(settings, root);
  const program = ts.createProgram([...sources.values()], options);
  const checker = program.getTypeChecker();
  const found = new Map<ts.Symbol, Factory>();
  for (const [entry, file] of sources) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    for (const exported of module ? checker.getExportsOfModule(module) : []) {
      const name = exported.getName();
      if (!FACTORY.test(name)) continue;
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
      if (symbol.valueDeclaration === undefined || found.has(symbol)) continue;
      found.set(symbol, { name, entry, examples: examplesOf(symbol) });
    }
  }
  return [...found.values()];
}

/** Compiles programs and returns the faults, by the program's name. */
export async function compile(
  programs: ReadonlyMap<string, string>,
): Promise<Map<string, string[]>> {
  await mkdir(join(root, '.data'), { recursive: true });
  // Programs need a folder below the package's root to find its dependencies.
  const folder = await mkdtemp(join(root, '.data', 'examples-'));
  const write = (file: string, text: string): Promise<void> => writeFile(join(folder, file), text);
  try {
    await Promise.all([...programs].map(([name, code]) => write(`${name}.tsx`, code)));
    await write('tsconfig.json', JSON.stringify({ compilerOptions: settings }));
    const { stdout } = await promisify(execFile)(process.execPath, [TSC, '--pretty', 'false'], {
      cwd: folder,
    }).catch((error: unknown) => error as { stdout: string });
    const faults = new Map([...programs.keys()].map((name) => [name, [] as string[]]));
    for (const [line, name = '', fault = ''] of stdout.matchAll(FAULT)) {
      const own = faults.get(name);
      if (own === undefined) throw new Error(line);
      own.push(fault);
    }
    return faults;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the text directly, since the parser takes an `@` in code for the next tag. */
function examplesOf(symbol: ts.Symbol): string[] {
  const comments = (symbol.declarations ?? [])
    .flatMap((declaration) => ts.getJSDocCommentsAndTags(declaration))
    .filter(ts.isJSDoc);
  return comments.flatMap((comment) => {
    const lines = comment
      .getText()
      .replace(/\*\/$/, '')
      .split('\n')
      .map((line) => line.replace(/^\s*\*? ?/, ''));
    const starts = lines.flatMap((line, at) => (line.startsWith('@example') ? [at] : []));
    return starts.map((start) => {
      const length = lines.slice(start + 1).findIndex((line) => /^@\w/.test(line));
      const end = length === -1 ? lines.length : start + 1 + length;
      return lines
        .slice(start + 1, end)
        .join('\n')
        .trim();
    });
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A `create…`, `define…` or `use…` function that the package exports. */
export interface Factory {
  name: string;
  /** The entry that exports it, as a program imports it. */
  entry: string;
  /** The code of its `@example` blocks. */
  examples: string[];
}

const FACTORY = /^(?:create|define|use)[A-Z]/;
const root = process.cwd();

/** Source file of each entry, by the name that programs import. */
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

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.es2024.string.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  jsx: ts.JsxEmit.ReactJSX,
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  // The package's own name means its sources, so that no build is needed.
  paths: Object.fromEntries([...sources].map(([name, file]) => [name, [file]])),
};

/** All factories of all entries; one that several entries export is listed once. */
export function findFactories(): Factory[] {
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

/** Faults that the compiler finds in programs, by the program's name. */
export function compile(programs: ReadonlyMap<string, string>): Map<string, string[]> {
  const files = new Map([...programs].map(([name, code]) => [join(root, `${name}.tsx`), code]));
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (file) => files.has(file) || disk.fileExists(file),
    readFile: (file) => files.get(file) ?? disk.readFile(file),
    getSourceFile: (file, version, ...rest) => {
      const code = files.get(file);
      return code === undefined
        ? disk.getSourceFile(file, version, ...rest)
        : ts.createSourceFile(file, code, version);
    },
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return new Map(
    [...programs.keys()].map((name) => {
      const source = program.getSourceFile(join(root, `${name}.tsx`));
      const faults = ts.getPreEmitDiagnostics(program, source);
      return [
        name,
        faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
      ];
    }),
  );
}

/** The text is read directly, since the parser takes an `@` in code for the next tag. */
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

import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Evaluates TypeScript source and returns its exports; the given modules serve its imports. */
export function runSource(source: string, modules: Readonly<Record<string, unknown>>): unknown {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(source, { compilerOptions });
  const exported = {};
  const load = (name: string): unknown => {
    if (!Object.hasOwn(modules, name)) throw new Error(`"${name}" is not among the modules`);
    return modules[name];
  };
  // In another realm, plain objects would have other prototypes.
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- The project's own text.
  new Function('require', 'exports', outputText)(load, exported);
  return exported;
}

export const sourceOf = (file: string): string => readFileSync(file, 'utf8');

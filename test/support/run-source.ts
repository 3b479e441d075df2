import { readFileSync } from 'node:fs';
import ts from 'typescript';

export const sourceOf = (file: string): string => readFileSync(file, 'utf8');

/** Returns the TypeScript of a document's code blocks. */
export function programsIn(file: string): string[] {
  return [...sourceOf(file).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
}

export function toJavaScript(source: string, module = ts.ModuleKind.ESNext): string {
  const compilerOptions = { module, target: ts.ScriptTarget.ES2023 };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}

/** Evaluates TypeScript source and returns its exports; the given modules serve its imports. */
export function runSource(source: string, modules: Readonly<Record<string, unknown>>): unknown {
  const exported = {};
  const load = (name: string): unknown => {
    if (!Object.hasOwn(modules, name)) throw new Error(`"${name}" is not among the modules`);
    return modules[name];
  };
  const code = toJavaScript(source, ts.ModuleKind.CommonJS);
  // In another realm, plain objects would have other prototypes.
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- The project's own text.
  new Function('require', 'exports', code)(load, exported);
  return exported;
}

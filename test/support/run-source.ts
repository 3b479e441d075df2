import { readFileSync } from 'node:fs';
import { transformSync } from '@swc/core';

export const sourceOf = (file: string): string => readFileSync(file, 'utf8');

/** Returns the TypeScript of a document's code blocks. */
export function programsIn(file: string): string[] {
  return [...sourceOf(file).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
}

export function toJavaScript(source: string, module: 'es6' | 'commonjs' = 'es6'): string {
  const jsc = { target: 'es2023', parser: { syntax: 'typescript' } } as const;
  return transformSync(source, { swcrc: false, module: { type: module }, jsc }).code;
}

/** Evaluates TypeScript source and returns its exports; the given modules serve its imports. */
export function runSource(source: string, modules: Readonly<Record<string, unknown>>): unknown {
  const exported = {};
  const load = (name: string): unknown => {
    if (!Object.hasOwn(modules, name)) throw new Error(`"${name}" is not among the modules`);
    return modules[name];
  };
  const code = toJavaScript(source, 'commonjs');
  // In another realm, plain objects would have other prototypes.
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- The project's own text.
  new Function('require', 'exports', code)(load, exported);
  return exported;
}

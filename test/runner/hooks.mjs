// Hooks of Node's module loader, in their own thread. They compile TypeScript as the build does. A
// module keeps its source's address, so it finds its neighbours.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import { swcOptions } from '../../scripts/build/sources.mjs';

const ROOT = new URL('../../', import.meta.url);

const BY_NAME = {
  // Examples import the package by its name.
  'helix-temporal/ai-sdk': new URL('ai-sdk/index.ts', ROOT).href,
  'helix-temporal/runtime-js': new URL('extensions/one-process/index.ts', ROOT).href,
};

export function resolve(specifier, context, next) {
  const url = BY_NAME[specifier] ?? sourceOf(specifier, context.parentURL);
  return url ? { url, shortCircuit: true } : next(specifier, context);
}

/** Maps the compiled file's name, by which sources import each other, to its source. */
function sourceOf(specifier, parent) {
  if (!/\.js$/.test(specifier) || !/^\.|^file:/.test(specifier)) return undefined;
  const { href } = new URL(specifier, parent);
  if (!href.startsWith(ROOT.href) || href.includes('/node_modules/')) return undefined;
  const source = ['ts', 'tsx'].map((kind) => href.replace(/js$/, kind));
  return source.find((url) => existsSync(fileURLToPath(url)));
}

export async function load(url, context, next) {
  const [address] = url.split('?');
  if (!/\.tsx?$/.test(address) || address.includes('/node_modules/')) return next(url, context);
  const filename = fileURLToPath(address);
  const { code } = transformSync(await readFile(filename, 'utf8'), {
    ...swcOptions(filename),
    filename,
    sourceMaps: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
}

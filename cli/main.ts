#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { nodeFault } from './node-version.js';

// From dist/cli, in the package and in a clone alike.
const file = new URL('../../package.json', import.meta.url);
const { version, engines } = JSON.parse(readFileSync(file, 'utf8')) as {
  version: string;
  engines: { node: string };
};
const fault = nodeFault(process.versions.node, engines.node);
if (fault === undefined) {
  // An old Node could not even read what this imports.
  const { runCommandLine } = await import('./run.js');
  await runCommandLine(process, version);
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

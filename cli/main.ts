#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { nodeFault } from './node-version.js';

// The path starts in dist/cli, in the package and in a clone alike.
const file = new URL('../../package.json', import.meta.url);
const { version, engines } = JSON.parse(readFileSync(file, 'utf8')) as {
  version: string;
  engines: { node: string };
};
const fault = nodeFault(process.versions.node, engines.node);
if (fault === undefined) {
  // Imported late, because an old Node cannot parse these modules.
  const { runCommandLine } = await import('./run.js');
  await runCommandLine(process, version);
} else {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

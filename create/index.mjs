#!/usr/bin/env node
// `npm create helix-temporal my-app`: writes the app of `helix-temporal init` without an installation first.
import { writeApp } from './templates/write-app.mjs';

try {
  process.stdout.write(`${writeApp(process.argv[2])}\n`);
} catch (error) {
  process.stderr.write(`${error.name === 'UsageError' ? error.message : error.stack}\n`);
  process.exitCode = error.name === 'UsageError' ? 64 : 1;
}

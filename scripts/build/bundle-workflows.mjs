// One file with all workflow code, made ahead of time: a worker that bundles at start begins a
// second or two later, each time.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importClosure } from './import-closure.mjs';
import { fingerprint } from './sources.mjs';
import { readStamp, writeAtomically, writeStamp } from './stamp.mjs';

const PART = 'workflows';
const ENTRY = 'extensions/workflows.ts';
/** The worker loads exactly this file. */
const OUTPUT = 'workflows/bundle.js';

/** Returns whether a bundle was made. */
export async function bundleWorkflows(root, dist, toolVersions) {
  if (!existsSync(join(root, ENTRY))) return false;
  const made = fingerprint(root, importClosure(root, [ENTRY]), toolVersions);
  if (readStamp(dist, PART) === made && existsSync(join(dist, OUTPUT))) return false;

  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, ENTRY),
    logger: new DefaultLogger('WARN'),
  });
  writeAtomically(join(dist, OUTPUT), code);
  writeStamp(dist, PART, made);
  return true;
}

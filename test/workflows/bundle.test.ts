import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** A fifth above the size at first. A worker loads the bundle for every workflow that it keeps. */
const BUDGET_BYTES = 740_000;

let code = '';

beforeAll(async () => {
  const bundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../extensions/workflows.ts', import.meta.url)),
    logger: new DefaultLogger('ERROR'),
  });
  // The source map holds the names of all files, so the test removes it.
  code = bundle.code.replace(/\/\/# sourceMappingURL=.*$/s, '');
});

/** Returns the packages with modules in the bundle. */
function packagesIn(bundled: string): string[] {
  const paths = bundled.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g);
  return [...new Set([...paths].flatMap(([, name]) => name ?? []))].sort();
}

describe('the workflow bundle', () => {
  it('the workflow bundle has the workflow, and nothing that the sandbox forbids', () => {
    expect(code).toContain('agentRun');
    const packages = packagesIn(code);
    expect(packages).toContain('@temporalio/workflow');
    for (const name of ['zod', 'ai', 'ioredis', '@ai-sdk/provider', 'express', 'pino']) {
      expect(packages).not.toContain(name);
    }
    for (const file of ['protocol/chunk.ts', 'protocol/rows.ts', 'store/', 'activities/']) {
      expect(code).not.toContain(`./${file}`);
    }
  });

  it('the workflow bundle keeps to its size', () => {
    process.stdout.write(`workflow bundle: ${String(Buffer.byteLength(code))} bytes\n`);
    expect(Buffer.byteLength(code)).toBeLessThan(BUDGET_BYTES);
  });
});

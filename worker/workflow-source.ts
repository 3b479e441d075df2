import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BundleOptions, WorkerOptions } from '@temporalio/worker';
import { WORKFLOW_TYPE } from '../protocol/temporal.js';

/** Bundled workflow code, or the file to bundle. */
export type WorkflowSource = { bundlePath: string } | { workflowsPath: string };

/** The bundle in this package. */
const BUILT: WorkflowSource = {
  bundlePath: fileURLToPath(new URL('../workflows/bundle.js', import.meta.url)),
};

/** File that exports `agentRun` and the workflows behind the alias. */
const WITH_OWN = fileURLToPath(
  new URL(`../extensions/with-own-workflows${extname(import.meta.url)}`, import.meta.url),
);
const OWN = 'workflows-of-this-worker';

/** An export of this name, in the code of a bundler or of TypeScript's CommonJS. */
const EXPORTED = new RegExp(
  `\\b${WORKFLOW_TYPE}["']?\\s*:|exports\\.${WORKFLOW_TYPE}\\b|exports,\\s*["']${WORKFLOW_TYPE}["']`,
);

/**
 * Sets the worker's workflow code: its own, or the bundle of the package.
 *
 * @throws Error if the worker has a bundle already, and `agentRun` is not in it
 */
export async function withWorkflows(
  options: WorkerOptions,
  source: WorkflowSource = BUILT,
): Promise<WorkerOptions> {
  const { workflowBundle, workflowsPath } = options;
  if (workflowBundle !== undefined) await checkBundle(workflowBundle);
  if (workflowBundle !== undefined || workflowsPath !== undefined) return options;
  return 'bundlePath' in source
    ? { ...options, workflowBundle: { codePath: source.bundlePath } }
    : { ...options, workflowsPath: source.workflowsPath };
}

/** Adds `agentRun` to workflows that are about to be bundled. */
export function addAgentRun(options: BundleOptions): BundleOptions {
  const { workflowsPath, webpackConfigHook } = options;
  if (workflowsPath === WITH_OWN) return options;
  return {
    ...options,
    workflowsPath: WITH_OWN,
    webpackConfigHook: (config) => {
      const own = webpackConfigHook?.(config) ?? config;
      const file = resolve(workflowsPath);
      const { alias = {}, modules = ['node_modules'] } = own.resolve ?? {};
      const all = Array.isArray(alias)
        ? [...alias, { name: OWN, alias: file, onlyModule: true }]
        : { ...alias, [`${OWN}$`]: file };
      // The bundler's entry is in this package, so it needs the application's package folders.
      const found = [...modules, ...packageFoldersOf(dirname(file))];
      return { ...own, resolve: { ...own.resolve, alias: all, modules: found } };
    },
  };
}

/** Lists the folders where Node looks for packages, nearest first. */
function packageFoldersOf(folder: string): string[] {
  const parent = dirname(folder);
  const above = parent === folder ? [] : packageFoldersOf(parent);
  return [join(folder, 'node_modules'), ...above];
}

async function checkBundle(bundle: object): Promise<void> {
  const code =
    'codePath' in bundle ? await readFile(String(bundle.codePath), 'utf8') : readCode(bundle);
  if (code === undefined || EXPORTED.test(code)) return;
  throw new Error(
    `The workflow bundle of this worker has no "${WORKFLOW_TYPE}", so no agent could run. Give ` +
      'createAgentPlugin(…) to bundleWorkflowCode as one of its plugins, or export it from your ' +
      `workflows: export { ${WORKFLOW_TYPE} } from 'helix-temporal/workflows';`,
  );
}

/** Returns undefined for a bundle of an unknown shape. */
function readCode(bundle: object): string | undefined {
  return 'code' in bundle && typeof bundle.code === 'string' ? bundle.code : undefined;
}

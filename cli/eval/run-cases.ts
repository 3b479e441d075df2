import { readdir, readFile, stat, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AgentsFileError, loadAgentsFile } from '../../extensions/own-files/index.js';
import {
  ModelConfigurationError,
  modelFromSpec,
  type AgentDefinition,
} from '../../agents/index.js';
import {
  CaseError,
  DIFFERENCES,
  evaluateCase,
  FAIL_ON,
  parseCase,
  toJUnit,
  type CaseReport,
  type Difference,
  type EvalCase,
} from '../../testing/eval/index.js';
import { wrongUsage } from '../failure.js';

export interface RunOptions {
  path: string;
  agents?: string | undefined;
  /** True means the same agents with their own models. */
  baseline?: string | true | undefined;
  model?: string | undefined;
  live?: readonly string[] | undefined;
  failOn?: readonly string[] | undefined;
  junit?: string | undefined;
  env: Record<string, string | undefined>;
}

/** Runs the cases one after the other. @throws CliFailure for invalid input, before any case runs */
export async function runCases(options: RunOptions): Promise<CaseReport[]> {
  const { baseline, live = [], failOn = FAIL_ON, junit, env } = options;
  const cases = await readCases(options.path);
  const agents = await loadAgents(options.agents ?? env['AGENTS'] ?? 'agents.ts', env);
  checkLive(live, agents);
  const model =
    options.model === undefined
      ? undefined
      : await modelFromSpec(options.model, env).catch(refuseModel);
  const before =
    baseline === undefined
      ? undefined
      : { agents: baseline === true ? agents : await loadAgents(baseline, env) };
  checkAgents(cases, agents);
  const lanes = { agents, model, live, baseline: before, failOn: toDifferences(failOn) };
  const write = junit === undefined ? undefined : await openJUnitFile(junit, cases);
  const reports: CaseReport[] = [];
  for (const recorded of cases) {
    reports.push(await evaluateCase(recorded, lanes));
    await write?.(reports);
  }
  return reports;
}

/** @throws CliFailure for a name, a package or a key that is missing */
function refuseModel(error: unknown): never {
  throw error instanceof ModelConfigurationError ? wrongUsage(error.message) : error;
}

/** @throws CliFailure for a file without agents */
async function loadAgents(file: string, env: RunOptions['env']): Promise<AgentDefinition[]> {
  try {
    const registry = await loadAgentsFile(file, { env });
    return registry.getRegisteredTypes().map((name) => registry.resolve(name));
  } catch (error) {
    if (error instanceof AgentsFileError) throw wrongUsage(error.message);
    throw error;
  }
}

async function readCases(path: string): Promise<EvalCase[]> {
  const about = await stat(path).catch(() => undefined);
  if (about === undefined) throw wrongUsage(`There is no ${path}.`);
  const names = about.isDirectory() ? (await readdir(path)).sort() : [];
  const files = about.isDirectory()
    ? names.filter((name) => name.endsWith('.json')).map((name) => join(path, name))
    : [path];
  if (files.length === 0) throw wrongUsage(`There is no case in ${path}.`);
  return Promise.all(
    files.map(async (file) => {
      try {
        return { ...parseCase(await readFile(file, 'utf8')), name: basename(file, '.json') };
      } catch (error) {
        if (error instanceof CaseError) throw wrongUsage(`${file}: ${error.message}`);
        throw error;
      }
    }),
  );
}

function checkAgents(cases: readonly EvalCase[], agents: readonly AgentDefinition[]): void {
  const other = cases.find(({ agent }) => !agents.some(({ name }) => name === agent));
  if (other !== undefined) {
    throw wrongUsage(`${other.name}: there is no agent "${other.agent}".`);
  }
}

/** Rejects unknown tool names, because a typo would only show up as unexplained drift. */
function checkLive(live: readonly string[], agents: readonly AgentDefinition[]): void {
  const tools = new Set(agents.flatMap((agent) => agent.tools.map(({ name }) => name)));
  const unknown = live.find((name) => !tools.has(name));
  if (unknown !== undefined) throw wrongUsage(`--live names ${unknown}, a tool that no agent has.`);
}

function toDifferences(names: readonly string[]): Difference[] {
  return names.map((name) => {
    const known = DIFFERENCES.find((each) => each === name);
    if (known === undefined) {
      throw wrongUsage(`--fail-on takes ${DIFFERENCES.join(', ')}, and not ${name}.`);
    }
    return known;
  });
}

/** Writes the reports so far after each case; the cases without a report have not run. */
type WriteJUnit = (reports: readonly CaseReport[]) => Promise<void>;

/**
 * Opens the file so that an interrupted evaluation leaves its results so far. A pipe gets only the last
 * version.
 *
 * @throws CliFailure if the file cannot be written, before any model is called
 */
async function openJUnitFile(file: string, cases: readonly EvalCase[]): Promise<WriteJUnit> {
  const about = await stat(file).catch(() => undefined);
  if (about?.isDirectory() === true) throw wrongUsage(`${file} cannot be written: it is a folder.`);
  const isFile = about === undefined || about.isFile();
  // Follows a symbolic link, so that it stays a link.
  const target = await realpath(file).catch(() => file);
  const write: WriteJUnit = async (reports) => {
    const isLast = reports.length === cases.length;
    const text = toJUnit(reports, cases.slice(reports.length));
    if (isFile) await replaceFile(target, text);
    else if (isLast) await writeFile(file, text);
  };
  await write([]).catch((error: unknown) => {
    throw wrongUsage(`${file} cannot be written: ${error instanceof Error ? error.message : ''}.`);
  });
  return write;
}

/** Replaces the file atomically; writes in place if the folder is read-only or the file is a mount. */
async function replaceFile(file: string, text: string): Promise<void> {
  const part = `${file}.part`;
  try {
    await writeFile(part, text);
    await rename(part, file);
  } catch {
    await rm(part, { force: true }).catch(() => undefined);
    await writeFile(file, text);
  }
}

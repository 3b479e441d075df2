// Provides the programs that tests and measurements need, as environment variables.
import { withProgress } from '../system/progress.mjs';
import { UserError } from '../system/project.mjs';
import { findOnPath, runCommand } from '../system/run-command.mjs';
import { canInstallWithApt, installWithApt } from './apt.mjs';
import { findRedis } from './redis.mjs';
import { findTemporal, findTestServer } from './temporal.mjs';

// Finds a Chromium, which only the tests of the page need.
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'];
const MAC_APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Returns `{ path }`, or `{ reason }`: a sentence that says why it is missing and how to get it. */
export async function findChromium({
  env = process.env,
  canInstall = canInstallWithApt,
  install = () => installWithApt(['chromium', 'fonts-liberation']),
} = {}) {
  if (env.CHROMIUM_PATH) {
    if (await runs(env.CHROMIUM_PATH)) return { path: env.CHROMIUM_PATH };
    throw new UserError(`CHROMIUM_PATH is ${env.CHROMIUM_PATH}, but that is no working Chromium.`);
  }
  const candidates = [findOnPath(NAMES, env), ...MAC_APPLICATIONS].filter(Boolean);
  for (const candidate of candidates) {
    if (await runs(candidate)) return { path: candidate };
  }
  if (!canInstall(env))
    return { reason: 'No Chromium was found: install one or set CHROMIUM_PATH.' };

  try {
    await withProgress('Installing Chromium with apt', install);
  } catch (error) {
    return { reason: `Chromium could not be installed (${error.message}): set CHROMIUM_PATH.` };
  }
  const path = findOnPath(NAMES, env);
  return path && (await runs(path))
    ? { path }
    : { reason: 'The installed Chromium does not run: set CHROMIUM_PATH.' };
}

async function runs(path) {
  const { code } = await runCommand(path, ['--version'], { timeoutMs: 15_000 });
  return code === 0;
}

/** Settings of the tests' Temporal that differ from the default. */
export const TEST_TEMPORAL_CONFIG = {
  // Runs continue as new after about 13 steps, far fewer than usual.
  'limit.historyCount.suggestContinueAsNew': 150,
  // A closed workflow is deleted only after these queues note that its tasks are done; this takes seconds
  // instead of up to a minute.
  'history.transferProcessorUpdateAckInterval': '"1s"',
  'history.visibilityProcessorUpdateAckInterval': '"1s"',
};

/** Finds or fetches all programs. Without Chromium only the tests of the page fail. */
export async function testEnvironment({ withBrowser = true } = {}) {
  const temporal = await findTemporal();
  const testServer = await findTestServer();
  const redis = await findRedis();
  const chromium = withBrowser ? await findChromium() : {};
  if (chromium.reason) process.stderr.write(`${chromium.reason}\n`);
  return {
    TEMPORAL_CLI_PATH: temporal,
    TEMPORAL_TEST_SERVER_PATH: testServer,
    REDIS_SERVER_PATH: redis,
    ...(chromium.path && { CHROMIUM_PATH: chromium.path }),
  };
}

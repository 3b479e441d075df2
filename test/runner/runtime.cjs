const { register } = require('node:module');
const { pathToFileURL } = require('node:url');
const shared = require('./endings.cjs');

/** By which jest asks a process to end. */
const CHILD_MESSAGE_END = 2;

const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

register('./hooks.mjs', pathToFileURL(__filename));
process.setSourceMapsEnabled(true);
// A process of the run ends when the run does, whatever its test files have left open.
if (process.send) {
  process.on('message', ([kind]) => kind === CHILD_MESSAGE_END && process.exit());
  process.once('disconnect', () => process.exit());
}

/**
 * How jest loads test files: as Node does, and a process loads each module once for all of its files.
 * Jest's own runtime would load every package anew for each file, in a realm of its own.
 */
module.exports = class NativeRuntime {
  constructor(_config, environment) {
    this.environment = environment;
  }

  /** Of the test framework, whose state is that of one test file. */
  requireInternalModule(file) {
    delete require.cache[file];
    delete globalThis[EVENT_HANDLERS];
    delete globalThis[TEST_TIMEOUT];
    return require(file);
  }

  requireModule(file) {
    return require(file);
  }

  setGlobalsForRuntime(globals) {
    const { moduleMocker, fakeTimersModern, endings } = this.environment;
    const jest = {
      fn: moduleMocker.fn.bind(moduleMocker),
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      useFakeTimers: (options) => fakeTimersModern.useFakeTimers(options),
      useRealTimers: () => fakeTimersModern.useRealTimers(),
      advanceTimersByTime: (ms) => fakeTimersModern.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => fakeTimersModern.advanceTimersByTimeAsync(ms),
      getTimerCount: () => fakeTimersModern.getTimerCount(),
    };
    Object.assign(globalThis, globals, {
      jest,
      atEndOfFile: (undo) => void endings.push(undo),
      atEndOfRun: (undo) => void shared.endings.push(undo),
    });
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(file) {
    // Jest sets its own, which knows nothing of Node's source maps.
    Error.prepareStackTrace = undefined;
    // A file that runs again in this process is loaded again.
    await import(`${pathToFileURL(file).href}?${performance.now()}`);
  }

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
};

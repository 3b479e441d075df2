const hooks = require('node:async_hooks');
const Module = require('node:module');
const { pathToFileURL } = require('node:url');
const shared = require('./endings.cjs');

/** Message by which jest asks a process to end. */
const CHILD_MESSAGE_END = 2;

const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** Never faked: sockets and stores, on which the code under test waits, need them. */
const AT_ONCE = ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'];

const storages = [];

hooks.AsyncLocalStorage = class extends hooks.AsyncLocalStorage {
  constructor() {
    super();
    storages.push(this);
  }
};

Module.register('./hooks.mjs', pathToFileURL(__filename));
process.setSourceMapsEnabled(true);

// Node would read the source maps of all packages, which no stack trace here needs.
const compile = Module.prototype._compile;
Module.prototype._compile = function (...args) {
  process.setSourceMapsEnabled(false);
  try {
    return compile.apply(this, args);
  } finally {
    process.setSourceMapsEnabled(true);
  }
};

// A process ends with the test run even if its files have left something open.
if (process.send) {
  process.on('message', ([kind]) => kind === CHILD_MESSAGE_END && process.exit());
  process.once('disconnect', () => process.exit());
}

/**
 * Loads test files as Node does, and each module once per process. Jest's own runtime would load
 * every package again for each file, in a new realm.
 */
module.exports = class NativeRuntime {
  constructor(_config, environment) {
    this.environment = environment;
  }

  /**
   * Reloads modules of the test framework, whose state belongs to one test file. Storages of the
   * files before (the framework's, and one of each connection to Temporal) are disabled until they
   * are used again, because Node copies each enabled one to every promise.
   */
  requireInternalModule(file) {
    delete require.cache[file];
    delete globalThis[EVENT_HANDLERS];
    delete globalThis[TEST_TIMEOUT];
    for (const storage of storages) storage.disable();
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
      useFakeTimers: ({ doNotFake = [] } = {}) =>
        fakeTimersModern.useFakeTimers({ doNotFake: [...AT_ONCE, ...doNotFake] }),
      useRealTimers: () => fakeTimersModern.useRealTimers(),
      advanceTimersByTime: (ms) => fakeTimersModern.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => fakeTimersModern.advanceTimersByTimeAsync(ms),
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
    // Jest's own hook ignores Node's source maps.
    Error.prepareStackTrace = undefined;
    // The query makes Node load a file again if it runs again in this process.
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

const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Runs test files in the process itself. A file's changes to the environment end with the file. */
module.exports = class NativeEnvironment {
  // This object takes only jest's own additions.
  global = {};
  moduleMocker = new ModuleMocker(globalThis);
  endings = [];

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext() {
    return {};
  }

  async setup() {
    this.env = { ...process.env };
    this.cwd = process.cwd();
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    try {
      for (const undo of this.endings.reverse()) await undo();
    } finally {
      process.chdir(this.cwd);
      const added = Object.keys(process.env).filter((name) => !(name in this.env));
      for (const name of added) delete process.env[name];
      Object.assign(process.env, this.env);
    }
  }
};

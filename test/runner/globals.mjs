// What a test file finds in '@jest/globals'. Jest makes these functions anew for each file, and helpers are loaded
// once: a call goes to those of the file that runs.
const of = (name) =>
  new Proxy(() => undefined, {
    apply: (_, __, args) => globalThis[name](...args),
    get: (_, key) => globalThis[name][key],
  });

export const { expect } = globalThis;
export const afterAll = of('afterAll');
export const afterEach = of('afterEach');
export const beforeAll = of('beforeAll');
export const beforeEach = of('beforeEach');
export const describe = of('describe');
export const it = of('it');
export const jest = of('jest');
export const test = of('test');

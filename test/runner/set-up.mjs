// Property tests try the same cases in every run, so failures recur. FC_SEED tries others.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });

// Without this `toEqual` takes an array for equal to one that has further undefined elements.
expect.addEqualityTesters([
  (a, b) => (Array.isArray(a) && Array.isArray(b) && a.length !== b.length ? false : undefined),
]);

// No test leaves a fake clock or a replaced method to the next one.
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

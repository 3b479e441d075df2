import type { RunShape } from '../../protocol/run.js';

/** The shape of the runs that a suite plays; those in `test/e2e/legs/` play others again in it. */
export function labShape(): RunShape | undefined {
  return expect.getState().testPath?.includes('/e2e/legs/') === true ? 'leg' : undefined;
}

import type { RunWorkflows } from '../../runs/run-workflows.js';

const nothing = (): Promise<void> => Promise.resolve();

/** An engine that takes every request and does nothing: each run looks as if it were working. */
export const IDLE_WORKFLOWS: RunWorkflows = {
  fleet: 'test',
  namespace: 'test',
  start: nothing,
  wake: nothing,
  state: () => Promise.resolve('running'),
  look: () => Promise.resolve({ state: 'running', isAtWork: true, started: [], children: [] }),
  retry: nothing,
  closedSince: () => Promise.resolve([]),
  openPage: () => Promise.resolve({ runIds: [], next: undefined }),
  erase: () => Promise.resolve({ deleted: 0, unknown: [] }),
};

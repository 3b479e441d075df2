/**
 * The workflows of a worker that has its own ones: both theirs and the agents'. A bundler replaces
 * the name below by the owner's file or folder (`worker/workflow-source.ts`).
 */
export {
  agentFiring,
  agentRun,
  agentToolWork,
  deliver,
  notifyEnd,
  notifyWaiting,
} from './workflows.js';
// @ts-expect-error -- An alias of the bundler.
export * from 'workflows-of-this-worker';
// @ts-expect-error -- An alias of the bundler.
import * as own from 'workflows-of-this-worker';

// `export *` omits the default, the workflow that serves all unknown types. Reflection reads it,
// since bundlers refuse a named access to an export that may be missing.
// oxlint-disable-next-line import/no-default-export -- Temporal looks it up as the default export.
export default Reflect.get(own as object, 'default') as unknown;

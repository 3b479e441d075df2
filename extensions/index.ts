/** The optional capabilities of this package, one folder each; see docs/extensions.md. */
import type { Extension } from '../extension.js';
import { agentServer } from './agent-server/index.js';
import { audit } from './audit/index.js';
import { calledRuns } from './called-runs/index.js';
import { codec, type PayloadKey } from './codec/index.js';
import { operatorConsole } from './console/index.js';
import { files } from './files/index.js';
import { fronts } from './fronts/index.js';
import { leases, type BegunLease, type LeaseOptions } from './leases/index.js';
import { limits, limitsOfSettings, toQuotas, type LimitOptions } from './limits/index.js';
import { metrics } from './metrics/index.js';
import { notices, type NotifyOptions } from './notify/index.js';
import { openApi } from './openapi/index.js';
import { people } from './people/index.js';
import { schedules } from './schedules/index.js';

export type { Extension } from '../extension.js';
export type { Budget, Budgets, LimitOptions, Quotas } from './limits/index.js';
export {
  agentServer,
  openApi,
  audit,
  files,
  fronts,
  limits,
  limitsOfSettings,
  metrics,
  operatorConsole,
  people,
};
export { schedules, toQuotas };
export { traceRuns } from './observe/trace-runs.js';
export type { Tracer } from '../protocol/telemetry.js';
export type { ToolExecution, ToolWatch, WorkMiddleware } from '../activities/extension.js';

/** Options by extension. */
export interface ExtensionOptions {
  limits?: LimitOptions | undefined;
  notify?: NotifyOptions | undefined;
  /** Keys that encrypt payloads in Temporal. Default: no encryption. */
  codec?: readonly PayloadKey[] | undefined;
  leases?: LeaseOptions | BegunLease | undefined;
  /** `createTracing(…)` of `helix-temporal/tracing`. Default: no traces. */
  tracing?: Extension | undefined;
}

/** Creates all extensions as the programs `api` and `worker` compose them. */
export function allExtensions(options: ExtensionOptions = {}): Extension[] {
  return [
    agentServer(),
    openApi(),
    metrics(),
    calledRuns(),
    files(),
    fronts(),
    operatorConsole(),
    audit(),
    people(),
    schedules(),
    limits(options.limits),
    notices(options.notify),
    codec(options.codec),
    leases(options.leases),
    ...(options.tracing === undefined ? [] : [options.tracing]),
  ];
}

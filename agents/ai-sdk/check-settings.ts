import { DefinitionError } from '../definition-error.js';
import { Sampling } from '../llm-settings.js';

/** Sampling and other settings of a model call, named as in `llmConfig`. */
export const SAMPLING = [...Object.keys(Sampling), 'headers', 'providerOptions'];

/**
 * Settings without a use here: the operator chooses the content of traces, the server's record
 * authorises calls without signatures, and requests and replies are not kept.
 */
const NOT_NEEDED = new Set([
  'allowSystemInMessages',
  'include',
  'telemetry',
  'experimental_telemetry',
  'experimental_toolApprovalSecret',
]);

const KNOWN = new Set<string>([
  ...SAMPLING,
  'id',
  'model',
  'instructions',
  'tools',
  'toolChoice',
  'activeTools',
  'stopWhen',
  'prepareStep',
  'toolApproval',
  'maxRetries',
  'repairToolCall',
  'experimental_repairToolCall',
  'onStepFinish',
  'onStepEnd',
  'onFinish',
  'onEnd',
  'output',
  'timeout',
  'runtimeContext',
  'toolsContext',
  'experimental_context',
  'callOptionsSchema',
  'prepareCall',
]);

const EVENTS =
  'use onStepEnd and onEnd, which are called after the commit, or the traces and metrics of the worker';

/** Replacements for settings that a durable run cannot keep. */
const INSTEAD: Readonly<Record<string, string>> = {
  onStart: EVENTS,
  experimental_onStart: EVENTS,
  onStepStart: 'use prepareStep, which is called before each model call',
  experimental_onStepStart: 'use prepareStep, which is called before each model call',
  onLanguageModelCallStart: EVENTS,
  onLanguageModelCallEnd: EVENTS,
  onToolExecutionStart: 'put it into execute of the tool, or use the traces of the worker',
  onToolExecutionEnd: 'put it into execute of the tool, or use the traces of the worker',
  onStepError: 'failed runs are found by GET /api/operator/runs, notices and the log of the worker',
  onError: 'failed runs are found by GET /api/operator/runs, notices and the log of the worker',
  onAbort: 'stopped runs are found by GET /api/operator/runs and notices',
  toolOrder: 'models get the tools in the order of the object; write them in that order',
  toolCallConcurrency:
    'calls of a step run side by side; use maxCallsPerStep, or activity: { taskQueue } of a tool whose worker runs fewer',
  experimental_refineToolInput: 'use transform of the tool’s input schema',
  experimental_download: 'set FILE_HOSTS: workers fetch files of these hosts',
  system: 'AI SDK 6 and 7 name it instructions',
};

/** Refuses settings that would silently have no effect. @throws DefinitionError */
export function checkSettings(settings: Record<string, unknown>, agent: string): void {
  for (const [field, value] of Object.entries(settings)) {
    if (value === undefined || KNOWN.has(field) || NOT_NEEDED.has(field)) continue;
    const instead = INSTEAD[field] ?? 'remove it';
    throw new DefinitionError(`"${field}" cannot be kept in a durable run; ${instead}`, { agent });
  }
  for (const field of ['telemetry', 'experimental_telemetry']) {
    checkTelemetry(field, settings[field], agent);
  }
  for (const [name, older] of [
    ['onStepEnd', 'onStepFinish'],
    ['onEnd', 'onFinish'],
  ] as const) {
    const [one, other] = [settings[name], settings[older]];
    if (one === undefined || other === undefined || one === other) continue;
    const fault = `${older} is the older name of ${name}; of two functions one would not be called`;
    throw new DefinitionError(fault, { agent });
  }
}

/** Refuses tracers that would never be called. */
function checkTelemetry(field: string, telemetry: unknown, agent: string): void {
  if (typeof telemetry !== 'object' || telemetry === null) return;
  const { isEnabled, integrations, tracer } = telemetry as Record<string, unknown>;
  const isEmpty = integrations === undefined || (Array.isArray(integrations) && !integrations[0]);
  if (isEnabled === false || (isEmpty && tracer === undefined)) return;
  const what = isEmpty ? 'tracer' : 'integrations';
  const fault = `${what} of "${field}" would not be called; the worker sends its traces by OpenTelemetry`;
  throw new DefinitionError(fault, { agent });
}

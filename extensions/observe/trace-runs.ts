import type { Extension } from '../../extension.js';
import type { Tracer } from '../../protocol/telemetry.js';
import { createLegTraces } from './leg-traces.js';
import { modelSpans } from './model-spans.js';
import { toolSpans } from './tool-spans.js';

/** Traces runs: their legs and waits, requests to models, and executions of tools. */
export function traceRuns(tracer: Tracer): Required<Pick<Extension, 'listener' | 'work'>> {
  const traces = createLegTraces(tracer);
  const request = modelSpans(traces);
  const tool = toolSpans(traces);
  return {
    listener: (_sessionId, events, { store }) => {
      traces.hear(store, events);
    },
    work: (store) => ({
      run: (run, work) => traces.within(store, run, work),
      request,
      tool,
    }),
  };
}

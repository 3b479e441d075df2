import type { WorkMiddleware } from '../../activities/extension.js';
import type { Extension } from '../../extension.js';
import { legSpan, type Tracer } from '../../protocol/telemetry.js';
import { commonAttributes, spanBelow, toolAttributes } from './leg-spans.js';
import { createLegTraces, type LegTraces } from './leg-traces.js';
import { modelSpans } from './model-spans.js';

/** Traces runs: their legs and waits, requests to models, and executions of tools. */
export function traceRuns(tracer: Tracer): Required<Pick<Extension, 'listener' | 'work'>> {
  const traces = createLegTraces(tracer);
  const request = modelSpans(traces);
  const tool = toolSpans(traces);
  return {
    listener: (_sessionId, events, { store }) => traces.hear(store, events),
    work: (store) => ({
      run: (run, work) => traces.within(store, run, work),
      request,
      tool,
    }),
  };
}

/** Writes a span for each execution of a tool, above the spans of other libraries. */
function toolSpans({ tracer, current }: LegTraces): WorkMiddleware['tool'] {
  return ({ ref: { step, toolCallId }, toolName, input, number }) => {
    const leg = current();
    if (leg === undefined) return undefined;
    const id = spanBelow(leg, step, toolCallId, number);
    let startMs = Date.now();
    let endMs: number | undefined;
    return {
      around: async (execute) => {
        startMs = Date.now();
        const from = performance.now();
        try {
          return await tracer.within(id, execute);
        } finally {
          endMs = startMs + performance.now() - from;
        }
      },
      ended: ({ output, error }) =>
        tracer.write({
          title: `execute_tool ${toolName}`,
          id,
          parent: legSpan(leg).span,
          kind: 'internal',
          startMs,
          endMs: endMs ?? startMs,
          attributes: {
            ...commonAttributes(leg, 'execute_tool'),
            ...toolAttributes({ toolCallId, toolName }),
            'helix.step': step,
            'helix.tool.execution': number,
          },
          error,
          content: () => ({
            'gen_ai.tool.call.arguments': input,
            'gen_ai.tool.call.result': output,
          }),
        }),
    };
  };
}

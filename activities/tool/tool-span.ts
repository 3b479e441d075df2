import type { CallActivityRef } from '../../protocol/activities.js';
import {
  commonAttributes,
  legSpan,
  spanBelow,
  toolAttributes,
} from '../../runs/record/leg-spans.js';
import type { LegTraces } from '../../runs/record/leg-traces.js';

/** Span of one execution of a tool. */
export interface ToolSpan {
  /** Executes the tool; spans of other libraries become children of this one. */
  within: <T>(execute: () => Promise<T>) => Promise<T>;
  /** Writes the span; `error` is the code for the model or for the next execution. */
  write: (ended: { output?: unknown; error?: string | undefined }) => void;
}

/** Returns undefined if the run is not traced. */
export function createToolSpan(
  traces: LegTraces | undefined,
  { step, toolCallId }: CallActivityRef,
  { toolName, input, execution }: { toolName: string; input: unknown; execution: number },
): ToolSpan | undefined {
  const leg = traces?.current();
  if (traces === undefined || leg === undefined) return undefined;
  const id = spanBelow(leg, step, toolCallId, execution);
  let startMs = Date.now();
  let endMs: number | undefined;
  return {
    within: async (execute) => {
      startMs = Date.now();
      const from = performance.now();
      try {
        return await traces.tracer.within(id, execute);
      } finally {
        endMs = startMs + performance.now() - from;
      }
    },
    write: ({ output, error }) => {
      traces.write({
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
          'helix.tool.execution': execution,
        },
        error,
        content: () => ({
          'gen_ai.tool.call.arguments': input,
          'gen_ai.tool.call.result': output,
        }),
      });
    },
  };
}

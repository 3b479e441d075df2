// Defences of traces: each span is there once, belongs to its leg, and tells no more than it may.
const TRACER = 'test/tracing/create-tracing.test.ts';
const LEGS = 'test/stores/record/trace-changes.test.ts';

export const traces = [
  {
    defence: 'Traces: the shipped processes redact by a file',
    file: 'config/traces.ts',
    edits: [['    redact,\n', '']],
    suite: 'test/tracing/start-tracing.test.ts',
    test: 'the shipped processes redact by a file, and do not start if it cannot be used',
  },
  {
    defence: 'Traces: a collector that never answers does not hold up the end of a process',
    file: 'tracing/start-tracing.ts',
    edits: [['withTimeout(CLOSE_MS, tracing.close())', 'tracing.close()']],
    suite: 'test/tracing/start-tracing.test.ts',
    test: 'a collector that accepts and never answers holds up neither spans nor the end',
  },
  {
    defence: 'Traces: ids are those of the span, whatever is looked up meanwhile',
    file: 'tracing/derived-ids.ts',
    edits: [['given = before;', 'given = undefined;']],
    suite: TRACER,
    test: 'a tracer two processes give the same span the same ids',
  },
  {
    defence: 'Traces: no content unless it is wanted',
    file: 'tracing/create-tracing.ts',
    edits: [
      [
        'if (!captureContent || content === undefined) return {};',
        'if (content === undefined) return {};',
      ],
    ],
    suite: TRACER,
    test: 'a tracer content is asked for only if it is captured',
  },
  {
    defence: 'Traces: no content past a hook that throws',
    file: 'tracing/create-tracing.ts',
    edits: [['    } catch {\n      return {};', '    } catch {\n      return attributes;']],
    suite: TRACER,
    test: 'a tracer a hook that throws lets no content out',
  },
  {
    defence: 'Traces: all spans of a trace are sampled alike',
    file: 'tracing/create-tracing.ts',
    edits: [['traceFlags: flagsOf(traceId) }', 'traceFlags: TraceFlags.SAMPLED }']],
    suite: TRACER,
    test: 'a tracer a trace is sampled as a whole',
  },
  {
    defence: 'Traces: an attempt writes the leg that the one before has ended',
    file: 'stores/record/trace-changes.ts',
    edits: [
      ["if (result.kind === 'done' || result.kind === 'superseded') lookAtEnd(current());", ''],
    ],
    suite: LEGS,
    test: 'spans of legs an attempt that finds its step stored writes what the one before could not',
  },
  {
    defence: 'Traces: a leg that was left is not written by the end of its run',
    file: 'stores/record/trace-changes.ts',
    edits: [['return leg?.wasLeft === true ? undefined : leg;', 'return leg;']],
    suite: LEGS,
    test: 'spans of legs a run that is stopped while it waits has left its leg before',
  },
  {
    defence: 'Traces: usage of a leg is what was used in it',
    file: 'stores/transitions/lib/resume.ts',
    edits: [["'legUsed', usage ?? '']", "'legUsed', '']"]],
    suite: LEGS,
    test: 'spans of legs a leg is written at its pause, and the next one at its end, each with its own usage',
  },
  {
    defence: 'Traces: a wait that a stop ends has a span',
    file: 'stores/record/trace-changes.ts',
    edits: [["waits.ended(asked, 'stopped');", '']],
    suite: 'test/stores/record/trace-changes.test.ts',
    test: 'spans of legs a wait that is stopped is written, in the trace of the leg that asked',
  },
  {
    defence: 'Traces: a wait that a new message ends has a span',
    file: 'stores/record/trace-changes.ts',
    edits: [["if (result.kind === 'begun') waits.ended(asked, 'abandoned');", '']],
    suite: 'test/stores/record/trace-changes.test.ts',
    test: 'spans of legs a wait that is abandoned is written, in the trace of the leg that asked',
  },
];

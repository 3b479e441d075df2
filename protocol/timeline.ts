import { z } from 'zod';
import { OperatorRunPath } from './operator.js';

/** What happened in a run, and when, for colleagues. Times are ms since the epoch. */

const ms = z.number();

/**
 * A stretch of a run: a reply of the model, a tool or another agent that runs, or a question to a person.
 * A `lost` one is an attempt that was withdrawn.
 */
export const TimelineSpan = z
  .object({
    kind: z.enum(['model', 'tool', 'agent', 'wait']),
    /** The run that it belongs to: this one, or that of a sub-agent. */
    runId: z.string(),
    /** Name of the agent. */
    agent: z.string(),
    step: z.number(),
    /** Absent for a reply of the model. */
    toolCallId: z.string().optional(),
    /** The tool, or for `agent` the other agent. */
    name: z.string().optional(),
    startedAt: ms,
    /** For a reply of the model: its first output. */
    firstAt: ms.optional(),
    /** Absent while it lasts. */
    endedAt: ms.optional(),
    state: z.enum(['open', 'done', 'failed', 'denied', 'cut', 'lost']),
    /** Why a reply of the model failed, if the run failed with it. */
    error: z.string().optional(),
    /** For `wait`: who decided, if recorded. */
    by: z.string().optional(),
    /** What a model's reply was charged. */
    inputTokens: z.number().optional(),
    outputTokens: z.number().optional(),
    /** A checkpoint after this step, from which a copy can be made. */
    checkpointId: z.string().optional(),
  })
  .meta({ id: 'TimelineSpan' });
export type TimelineSpan = z.infer<typeof TimelineSpan>;

/** Body of `GET /api/operator/runs/:runId/timeline`. */
export const OperatorTimeline = z
  .object({
    runId: z.string(),
    startedAt: ms,
    /** Absent while the run lasts. */
    endedAt: ms.optional(),
    /** The clock of the server, for what lasts. */
    now: ms,
    /** In the order of their beginnings. */
    spans: z.array(TimelineSpan),
    /** False if the log of the run has expired, was trimmed, or is too long to show. */
    isWhole: z.boolean(),
  })
  .meta({ id: 'OperatorTimeline' });
export type OperatorTimeline = z.infer<typeof OperatorTimeline>;

/** `GET /api/operator/runs/:runId/steps/:step`. */
export const OperatorStepPath = OperatorRunPath.extend({
  step: z.coerce.number().int().min(1).max(1_000_000),
});

/** What one call was given, and what came of it. */
const StepCall = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.unknown(),
  /** The input as the person who approved the call changed it. */
  changedInput: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.string().optional(),
});

/** Body of `GET /api/operator/runs/:runId/steps/:step`. */
export const OperatorStep = z
  .object({
    step: z.number(),
    agent: z.string(),
    /** What the turn was begun with: the text of its user messages, the first 4,000 characters. */
    prompt: z.string(),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(StepCall),
  })
  .meta({ id: 'OperatorStep' });
export type OperatorStep = z.infer<typeof OperatorStep>;

import { z } from 'zod';
import { OperatorRunPath } from './operator.js';

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

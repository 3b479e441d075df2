import { z } from 'zod';
import { UserPart } from '../../protocol/rows.js';

/** Version of the format that this release reads and writes. */
export const CASE_VERSION = 1;

const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Millionths of a dollar. */
  costMicroUsd: z.number().optional(),
});

/** A recorded call: input, decision and result. */
export const RecordedCall = z.object({
  tool: z.string(),
  input: z.unknown(),
  /** Decision on a call that needed approval. */
  decision: z
    .object({
      approved: z.boolean(),
      reason: z.string().optional(),
      /** Input as edited by the person. */
      input: z.unknown().optional(),
    })
    .optional(),
  /** Absent if the recording ends before the call was answered. */
  result: z
    .union([
      z.strictObject({ output: z.unknown() }),
      z.strictObject({ error: z.string() }),
      z.strictObject({ denied: z.literal(true) }),
    ])
    .optional(),
});
export type RecordedCall = z.infer<typeof RecordedCall>;

/** One turn: the user's messages and the agent's work. */
export const RecordedTurn = z.object({
  user: z
    .array(
      z.object({
        parts: z.array(UserPart).min(1),
        metadata: z.record(z.string(), z.unknown()).optional(),
        hidden: z.boolean().optional(),
      }),
    )
    .min(1),
  /** Number of model calls that ended in a reply. */
  steps: z.number(),
  calls: z.array(RecordedCall),
  text: z.string(),
  /** Result of an agent with an output schema. */
  output: z.unknown().optional(),
});
export type RecordedTurn = z.infer<typeof RecordedTurn>;

/** A frozen conversation: a file among the tests of its agent. */
export const EvalCase = z.object({
  helixCase: z.literal(CASE_VERSION),
  name: z.string(),
  agent: z.string(),
  recordedAt: z.string(),
  /** Status of the newest run's end, or `waiting`. */
  status: z.string(),
  turns: z.array(RecordedTurn).min(1),
  /** Usage of all turns; absent if unknown. */
  usage: Usage.optional(),
});
export type EvalCase = z.infer<typeof EvalCase>;

/** Thrown for a file that is not a valid case of this version. */
export class CaseError extends Error {
  override readonly name = 'CaseError';
}

/** Parses the text of a case's file. @throws CaseError that describes the fault */
export function parseCase(text: string): EvalCase {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CaseError('it is not JSON', { cause: error });
  }
  const version = (value as { helixCase?: unknown } | null)?.helixCase;
  if (version === undefined) throw new CaseError('it is no recorded case: helixCase is missing');
  if (version !== CASE_VERSION) {
    const known = String(CASE_VERSION);
    throw new CaseError(
      `its version is ${JSON.stringify(version)}, and this release reads version ${known}`,
    );
  }
  const parsed = EvalCase.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CaseError(z.prettifyError(parsed.error));
}

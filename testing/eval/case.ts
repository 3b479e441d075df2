import { z } from 'zod';
import { UserPart } from '../../protocol/rows.js';

/** The version of the format that this release writes, and the only one that it reads. */
export const CASE_VERSION = 1;

const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Millionths of a dollar. */
  costMicroUsd: z.number().optional(),
});

/** A call as it was recorded: what the model asked, what people decided, and what came of it. */
export const RecordedCall = z.object({
  tool: z.string(),
  input: z.unknown(),
  /** Of a call that people were asked about. */
  decision: z
    .object({
      approved: z.boolean(),
      reason: z.string().optional(),
      /** As the person changed it. */
      input: z.unknown().optional(),
    })
    .optional(),
  /** Absent where the recording ends before the call was answered. */
  result: z
    .union([
      z.strictObject({ output: z.unknown() }),
      z.strictObject({ error: z.string() }),
      z.strictObject({ denied: z.literal(true) }),
    ])
    .optional(),
});
export type RecordedCall = z.infer<typeof RecordedCall>;

/** One turn: the user's messages, and what the agent did. */
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
  /** Model calls that ended in a reply. */
  steps: z.number(),
  calls: z.array(RecordedCall),
  text: z.string(),
  /** Of an agent with an output schema. */
  output: z.unknown().optional(),
});
export type RecordedTurn = z.infer<typeof RecordedTurn>;

/** A conversation that was frozen: a file that belongs to the tests of its agent. */
export const EvalCase = z.object({
  helixCase: z.literal(CASE_VERSION),
  name: z.string(),
  agent: z.string(),
  recordedAt: z.string(),
  /** How the newest run ended, or `waiting`. */
  status: z.string(),
  turns: z.array(RecordedTurn).min(1),
  /** Of all turns; absent where it is not known. */
  usage: Usage.optional(),
});
export type EvalCase = z.infer<typeof EvalCase>;

/** The file is no case that this release reads. */
export class CaseError extends Error {
  override readonly name = 'CaseError';
}

/** Reads the text of a case's file. @throws CaseError that says what is wrong with it */
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

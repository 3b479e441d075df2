import { z } from 'zod';

/** A day: longer waits in a script are mistakes. */
const Wait = z.number().min(0).max(86_400_000);
/** Bounds what a stranger's message can make a worker allocate. */
const PieceCount = z.int().max(100_000);

/** A tool call that a script makes; an absent id is made up. */
export const ScriptCall = z.object({
  tool: z.string().min(1),
  id: z.string().min(1).optional(),
  args: z.unknown().optional(),
  /** Pieces in which the JSON of `args` is streamed; 0: not streamed at all. */
  argDeltas: PieceCount.min(0).default(1),
});
export type ScriptCall = z.infer<typeof ScriptCall>;

/** A provider error. */
export const ScriptFailure = z.object({
  status: z.int().min(400).max(599),
  retryAfterMs: Wait.optional(),
  /** Pieces streamed before it; 0: the call is refused outright. */
  afterDeltas: PieceCount.min(0).default(0),
  /** Attempts that fail, from the first; absent: all of them. */
  times: z.int().min(1).optional(),
});
export type ScriptFailure = z.infer<typeof ScriptFailure>;

/** What one attempt of a model call does. */
const attempt = {
  /** Streamed as reasoning, in one piece. */
  think: z.string().optional(),
  /** Streamed as text. */
  say: z.string().optional(),
  /** Pieces in which the text is streamed. Default: 1. */
  deltas: PieceCount.min(1).optional(),
  /** Time between two pieces, in ms. Default: none. */
  everyMs: Wait.optional(),
  /** Silence before the first part, in ms. Default: none. */
  hangMs: Wait.optional(),
  calls: z.array(ScriptCall).optional(),
  /** Input of the call that hands in the agent's result. */
  finish: z.unknown().optional(),
  fail: ScriptFailure.optional(),
  /** Each piece is the wall-clock time at which it was sent: ms, three decimals, a space. */
  stamp: z.boolean().optional(),
  /** Says the roles and texts of the conversation that the model was given, as JSON. */
  quote: z.boolean().optional(),
};

/** What one model call of a script does. Unknown keys are ignored. */
export const ScriptEntry = z.object({
  ...attempt,
  /** What attempt n does differently, laid over the entry; the last repeats. */
  attempts: z.array(z.object(attempt)).optional(),
});
export type ScriptEntry = z.infer<typeof ScriptEntry>;

/** An answer as the routes of operators take it. */
export type Answer =
  | { approved: boolean; input?: Record<string, unknown>; reason?: string }
  | { result: unknown }
  | { error: string };

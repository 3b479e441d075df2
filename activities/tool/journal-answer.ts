import type { z } from 'zod';
import { WaitError } from '../../agents/tool-journal.js';
import type { ToolRow } from '../../protocol/rows.js';

/** The result of a wait. @throws WaitError */
export function toAnswer({ output, error, errorCode }: ToolRow): unknown {
  if (error === undefined) return output;
  if (errorCode === 'client_tool_timeout') {
    throw new WaitError('wait_expired', 'No answer came in time.');
  }
  throw new WaitError('wait_failed', error);
}

/** @throws WaitError `invalid_answer` */
export async function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
): Promise<z.output<Schema>> {
  const parsed = await schema.safeParseAsync(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new WaitError('invalid_answer', issue?.message ?? 'The answer does not fit.');
}

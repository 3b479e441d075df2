import type { z } from 'zod';
import type { ToolAnswer } from '../protocol/answers.js';
import { HelixError, type ErrorCode } from '../protocol/errors.js';
import { sessionOfRun } from '../protocol/ids.js';
import { findJsonFault, hasPrototypeKeys } from '../protocol/limits.js';
import { isObject } from './fields.js';
import type { AgentRegistry } from './registry.js';

/** Checks an answer to a waiting call; see createAnswerCheck. */
export type AnswerCheck = (
  of: { agent: string; owner?: string; tenant?: string | undefined },
  call: { toolName: string; runId?: string },
  answer: ToolAnswer,
) => Promise<ToolAnswer>;

/**
 * Checks an answer to a waiting call against its tool: a client's result against the output schema,
 * an edited input against the input schema. The parsed result is stored; execution parses an input
 * again. An answer to a tool that this process does not know is accepted unchanged. The check
 * throws HelixError `invalid_result` or `invalid_input`, and then the call still waits.
 */
export function createAnswerCheck(agents: Pick<AgentRegistry, 'get'>): AnswerCheck {
  return async ({ agent, owner: userId, tenant: tenantId }, { toolName, runId }, answer) => {
    const sessionId = runId === undefined ? undefined : sessionOfRun(runId);
    const scope = { userId, tenantId, sessionId, runId };
    const tool = agents.get(agent, scope)?.tools.find(({ name }) => name === toolName);
    if (tool === undefined) return answer;
    if (answer.kind === 'approval-response') {
      if (answer.approved && answer.input !== undefined) {
        await parse(tool.inputSchema, answer.input, 'invalid_input');
        if (!isObject(answer.input))
          throw refuse('invalid_input', [{ path: '', message: 'it is no object' }]);
        // Pages do not show such a key, so an approver would not see what another one added.
        if (hasPrototypeKeys(answer.input))
          throw refuse('invalid_input', [{ path: '', message: 'it has a key of prototypes' }]);
      }
      return answer;
    }
    if (answer.error !== undefined || tool.outputSchema === undefined) return answer;
    const result = await parse(tool.outputSchema, answer.result, 'invalid_result');
    // A schema may transform a result into something that cannot be stored.
    const fault = result === undefined ? undefined : findJsonFault(result);
    if (fault !== undefined) throw refuse('invalid_result', [{ path: '', message: fault }]);
    return { ...answer, result };
  };
}

async function parse(schema: z.ZodType, value: unknown, code: ErrorCode): Promise<unknown> {
  let issues: z.core.$ZodIssue[];
  try {
    const parsed = await schema.safeParseAsync(value);
    if (parsed.success) return parsed.data;
    ({ issues } = parsed.error);
  } catch (error) {
    // The schema's own code threw, so the answer cannot be checked: refuse it.
    throw refuse(code, [], error);
  }
  throw refuse(
    code,
    issues.slice(0, 5).map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
  );
}

function refuse(
  code: ErrorCode,
  issues: { path: string; message: string }[],
  cause?: unknown,
): HelixError {
  const what = code === 'invalid_input' ? 'The input' : 'The result';
  const why = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const text = why.length === 0 ? 'it cannot be checked' : why.join('; ');
  return new HelixError(code, `${what} does not fit the tool: ${text}`, {
    cause,
    detail: { issues },
  });
}

import { findJsonFault } from '../protocol/json-fault.js';
import type { RetryPolicy, ToolDefinition } from './definitions.js';

/** What is wrong with how a tool is carried out, as the end of a sentence; undefined if nothing. */
export function findExecutionFault(tool: ToolDefinition): string | undefined {
  const { execute, subAgent, requireApproval } = tool;
  if (subAgent !== undefined && execute === 'agent') return undefined;
  if (execute !== 'client' && typeof execute !== 'function') {
    return `execute must be a function or 'client'`;
  }
  if (
    requireApproval !== undefined &&
    requireApproval !== true &&
    typeof requireApproval !== 'function'
  ) {
    return 'requireApproval must be true or a function';
  }
  const { finishWith } = tool;
  if (finishWith !== undefined && finishWith !== true && typeof finishWith !== 'function') {
    return 'finishWith must be true or a function';
  }
  return (
    (execute === 'client' ? findClientFault(tool) : undefined) ??
    findRetryFault(tool) ??
    findDeadlineFault(tool) ??
    findDurationFault('timeoutMs', tool.timeoutMs)
  );
}

/** What only the server can do for a tool. */
function findClientFault(tool: ToolDefinition): string | undefined {
  const { requireApproval, timeoutMs, finishWith, retry } = tool;
  const cannot = `so it cannot go with execute: 'client'`;
  if (requireApproval !== undefined) return `requireApproval runs execute on the server, ${cannot}`;
  if (timeoutMs !== undefined) return `timeoutMs limits execute on the server, ${cannot}`;
  if (finishWith !== undefined) return `finishWith ends the run on the server, ${cannot}`;
  if (retry !== undefined) return `retry repeats execute on the server, ${cannot}`;
  return undefined;
}

function findRetryFault({ retry, idempotent }: ToolDefinition): string | undefined {
  if (retry === undefined) return undefined;
  if (idempotent !== true) {
    return 'retry executes a call again, which is safe only for tools that are idempotent: true';
  }
  const { attempts, coefficient, initialIntervalMs, maximumIntervalMs }: RetryPolicy = retry;
  if (!Number.isSafeInteger(attempts) || attempts < 2 || attempts > 100) {
    return 'retry.attempts must be a whole number from 2 to 100';
  }
  if (coefficient !== undefined && !(Number.isFinite(coefficient) && coefficient >= 1)) {
    return 'retry.coefficient must be a number of at least 1';
  }
  return (
    findDurationFault('retry.initialIntervalMs', initialIntervalMs) ??
    findDurationFault('retry.maximumIntervalMs', maximumIntervalMs)
  );
}

function findDeadlineFault(tool: ToolDefinition): string | undefined {
  const { execute, requireApproval, deadlineMs, onExpiry } = tool;
  if (deadlineMs !== undefined && execute !== 'client' && requireApproval === undefined) {
    return 'deadlineMs limits the wait for an answer, and this tool waits for none';
  }
  return findDurationFault('deadlineMs', deadlineMs) ?? (onExpiry && findExpiryFault(tool));
}

function findExpiryFault({
  execute,
  deadlineMs,
  onExpiry,
  outputSchema,
}: ToolDefinition): string | undefined {
  if (deadlineMs === undefined) return 'onExpiry needs a deadlineMs';
  if (execute !== 'client') {
    return onExpiry === 'deny' || onExpiry === 'approve'
      ? undefined
      : `onExpiry of an approval must be 'deny' or 'approve'`;
  }
  if (typeof onExpiry !== 'object' || !('result' in onExpiry)) {
    return 'onExpiry of a client tool must be { result }';
  }
  const fault = onExpiry.result === undefined ? undefined : findJsonFault(onExpiry.result);
  if (fault !== undefined) return `the result of onExpiry cannot be kept: ${fault}`;
  return outputSchema === undefined || outputSchema.safeParse(onExpiry.result).success
    ? undefined
    : 'the result of onExpiry does not fit outputSchema';
}

function findDurationFault(field: string, ms: number | undefined): string | undefined {
  return ms === undefined || (Number.isSafeInteger(ms) && ms > 0)
    ? undefined
    : `${field} must be a whole number of milliseconds above 0`;
}

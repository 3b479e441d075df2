import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { FlexibleSchema, ModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';
import { findJsonFault } from '../protocol/limits.js';
import type { Responder } from '../protocol/actor.js';
import type { CallActivity, OnExpiry } from '../protocol/run.js';
import {
  callback,
  Callback,
  Duration,
  Flag,
  InputSchema,
  isFunction,
  must,
  Name,
  Schema,
  settings,
  Text,
} from './fields.js';
import type { LostCall, ToolCallIdentity, ToolContext, Verification } from './tool-context.js';

export type ToolResultOutput = ToolResultPart['output'];

/** Converts a call's result for the model; the AI SDK defines name and shape. */
export type ToModelOutput = (result: {
  toolCallId: string;
  input: unknown;
  output: unknown;
}) => ToolResultOutput | PromiseLike<ToolResultOutput>;

/**
 * Decides call by call: `true` asks a person, `false` does not; a verdict is an immediate decision,
 * recorded as automatic. A rule that throws asks a person.
 */
export type ApprovalRule<Input> = (
  input: Input,
  call: ApprovalCall,
) => ApprovalVerdict | Promise<ApprovalVerdict>;

/** A call that a rule decides on. */
export interface ApprovalCall extends ToolCallIdentity {
  /** Prompt of the step that made the call, without the system prompt. */
  readonly messages: readonly ModelMessage[];
}

export type ApprovalVerdict = boolean | { readonly approve: boolean; readonly reason?: string };

/** A call that a responder wants to approve. */
export interface ApprovalRequest {
  /** Conversation; `owner` is its owner. */
  readonly sessionId: string;
  readonly owner: string;
  readonly tenantId?: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** Input to execute: the model's, or the responder's own version. */
  readonly input: unknown;
}

/**
 * Returns true if a responder may approve a call. It runs when the question is shown, with the
 * model's input, and again for the answer. An error refuses.
 */
export type ApproverRule = (
  responder: Responder,
  request: ApprovalRequest,
) => ApproverVerdict | Promise<ApproverVerdict>;

/** `reason` is shown to the responder. */
export type ApproverVerdict = boolean | { readonly allowed: boolean; readonly reason?: string };

/** Hooks `onInputStart`, `onInputDelta` and `onInputAvailable` of an AI SDK tool. */
export type InputHooks = Readonly<
  Partial<Record<'start' | 'delta' | 'available', (options: InputHookOptions) => unknown>>
>;

export interface InputHookOptions {
  readonly toolCallId: string;
  /** Prompt of the model, without the system prompt. */
  readonly messages: ModelMessage[];
  readonly abortSignal: AbortSignal;
  /** A piece of the JSON text, for `delta`. */
  readonly inputTextDelta?: string;
  /** Parsed input, for `available`. */
  readonly input?: unknown;
}

/** Replacements for field names of the AI SDK and other libraries. */
const INSTEAD_OF = {
  parameters: 'inputSchema',
  input: 'inputSchema',
  schema: 'inputSchema',
  needsApproval: 'requireApproval',
  handler: 'execute',
  run: 'execute',
};
/** Fields that need the server's `execute`. */
const SERVER_ONLY = [
  'requireApproval',
  'timeoutMs',
  'finishWith',
  'retry',
  'activity',
  'verify',
] as const;
/** Fields that need an approval. */
const OF_APPROVALS = ['approvers', 'separateApprover'] as const;
const APPROVERS = new Set<unknown>(['approver', 'operator']);

const ToolName = Name.refine((name) => name !== FINISH_TOOL_NAME, {
  error: 'is reserved for the result of the agent',
});

const Coefficient = must<number>(
  'a number of at least 1',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 1,
);

const Retry = settings({
  /** Executions of one call, the first included; 2 to 100. Executions on a lost worker count. */
  attempts: must<number>('a whole number from 2 to 100', (value) => isWhole(value, 2, 100)),
  /** Delay before the second execution, in ms. Default: 1,000. */
  initialIntervalMs: Duration.optional(),
  /** Longest delay, in ms. Default: 60,000. */
  maximumIntervalMs: Duration.optional(),
  /** Factor from each delay to the next. Default: 2. */
  coefficient: Coefficient.optional(),
});

/** Limit and back-off of the retries of a tool that throws. */
export interface RetryPolicy extends Readonly<z.infer<typeof Retry>> {}

const Activity: z.ZodType<CallActivity> = settings(
  {
    taskQueue: must<string>(
      'the name of a task queue',
      (value) => typeof value === 'string' && value.trim() !== '',
    ).optional(),
    startToCloseTimeout: Duration.optional(),
    scheduleToStartTimeout: Duration.optional(),
    scheduleToCloseTimeout: Duration.optional(),
    retry: settings({
      initialInterval: Duration.optional(),
      maximumInterval: Duration.optional(),
      backoffCoefficient: Coefficient.optional(),
      maximumAttempts: must<number>('a whole number from 1 to 1,000', (value) =>
        isWhole(value, 1, 1000),
      ).optional(),
    }).optional(),
  },
  { timeoutMs: 'startToCloseTimeout', retryPolicy: 'retry', queue: 'taskQueue' },
);

const named = {
  /** The name under which the model calls it: `[A-Za-z0-9_-]{1,64}`, unique within an agent. */
  name: ToolName,
  /** Name shown to people, such as `Refund an order`. Default: the tool's name in words. */
  title: must<string>(
    'a text of 1 to 200 characters',
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 200,
  ).optional(),
  /** Explains to the model when and how to use the tool; people who approve calls read it too. */
  description: must<string>(
    'a text for the model that is not empty',
    (value) => typeof value === 'string' && value.trim() !== '',
  ),
};

/** Fields of every tool; `ToolConfig` types the callbacks from the schemas. */
const fields = {
  ...named,
  inputSchema: InputSchema,
  outputSchema: Schema.optional(),
  execute: must<'client' | 'webhook' | ((input: unknown, context: ToolContext) => unknown)>(
    `a function, 'client' or 'webhook'`,
    (value) => value === 'client' || value === 'webhook' || isFunction(value),
  ),
  send: callback<(url: string, input: unknown, context: ToolContext) => unknown>().optional(),
  requireApproval: trueOr<ApprovalRule<unknown>>().optional(),
  /**
   * Permitted approvers: callers with one of these roles, or those that the function accepts.
   * Default: the owner of the conversation, and approvers of the tenant.
   */
  approvers: must<readonly ('approver' | 'operator')[] | ApproverRule>(
    `a function, or a list of the roles 'approver' and 'operator'`,
    (value) => isFunction(value) || isApprovers(value),
  ).optional(),
  /** True forbids approval by the person who asked for the call. Default: false. */
  separateApprover: Flag.optional(),
  /** True if a call may run again after its worker died. Default: false, never repeated. */
  idempotent: Flag.optional(),
  verify:
    callback<(input: unknown, call: LostCall) => Verification | Promise<Verification>>().optional(),
  /** Retries a call when the tool throws; only for `idempotent` tools. Default: never. */
  retry: Retry.optional(),
  finishWith: trueOr<(output: unknown) => unknown>().optional(),
  /** Wait for the answer to a client tool, webhook, or approval, ms. Default: no limit. */
  deadlineMs: Duration.optional(),
  /**
   * The outcome of a call whose deadline has passed: approvals take `'deny'` (the default) or
   * `'approve'`, client tools `{ result }`, which the model sees in place of the client's.
   */
  onExpiry: z.custom<OnExpiry>(() => true).optional(),
  /** Time limit of `execute`, ms. Default: the worker's. */
  timeoutMs: Duration.optional(),
  /**
   * Settings of the Temporal activity that executes a call, such as a task queue for workers with
   * special hardware. The call then always has its own activity. If that fails for good, the model
   * gets an error.
   */
  activity: Activity.optional(),
};

/** Schema of the input of `defineTool`. */
export const ToolConfig = settings(fields, INSTEAD_OF).superRefine(checkTool);

/** Fields of every tool, in the author's form. */
export type ToolShape = z.infer<z.ZodObject<typeof fields>>;

/** A tool in its author's form, with callbacks typed from the schemas. */
export interface ToolConfig<
  Input extends z.ZodType,
  Output extends z.ZodType,
  Result extends z.input<Output> = z.input<Output>,
  Called extends string = string,
> extends Omit<
  ToolShape,
  | 'name'
  | 'inputSchema'
  | 'outputSchema'
  | 'execute'
  | 'send'
  | 'requireApproval'
  | 'verify'
  | 'finishWith'
> {
  /** The name under which the model calls it: `[A-Za-z0-9_-]{1,64}`, unique within an agent. */
  name: Called;
  /** Must describe an object. Checks every input first of all. */
  inputSchema: Input;
  /** Checks results of `execute` or of the client. */
  outputSchema?: Output;
  /**
   * Runs on a worker and returns a JSON value; the model sees its errors. `'client'`: the browser
   * executes the call and sends the result back. `'webhook'`: another system does; the first JSON
   * that is posted to the call's address and fits `outputSchema` is the result.
   */
  execute:
    | 'client'
    | 'webhook'
    | ((input: z.output<Input>, context: ToolContext) => Result | Promise<Result>);
  /**
   * With `execute: 'webhook'`: runs on a worker and passes the address on; then the call waits
   * without a process. The address cannot be guessed, and all attempts share it.
   */
  send?: (url: string, input: z.output<Input>, context: ToolContext) => unknown;
  /** A person must agree before `execute` runs; the function form decides call by call. */
  requireApproval?: true | ApprovalRule<z.output<Input>>;
  /**
   * Finds out whether a call took effect after its worker died: asks the changed system by the
   * idempotency key. An error, or no answer within a minute, counts as unknown. Default: unknown.
   */
  verify?: (
    input: z.output<Input>,
    call: LostCall,
  ) => Verification<z.input<Output>> | Promise<Verification<z.input<Output>>>;
  /**
   * Makes a successful call's result the run's, which ends once the step's other calls are settled;
   * the function form maps the result. It must fit the agent's `outputSchema`.
   */
  finishWith?: true | ((output: z.output<Output>) => unknown);
}

/** Replaces the schema of a tool that a provider defines. */
export interface ProviderTool {
  /** `<provider>.<tool>` */
  readonly id: `${string}.${string}`;
  readonly args: Readonly<Record<string, unknown>>;
  /** True if a call's result may come in a later reply. */
  readonly defers?: boolean;
}

/** Fields that only AI SDK tools have. */
const foreign = {
  /** Provider's form of a tool that the provider defines; replaces the schema. */
  provider: z.custom<ProviderTool>(() => true).optional(),
  /** Model's view of the tool in addition to name and description. */
  forModel: z
    .custom<
      { readonly inputSchema: FlexibleSchema } & Pick<
        LanguageModelV4FunctionTool,
        'providerOptions' | 'strict' | 'inputExamples'
      >
    >(() => true)
    .optional(),
  /** Hooks that are called while a model writes the input of a call. */
  onInput: z.custom<InputHooks>(() => true).optional(),
  /** Original name in an MCP server's list or another origin, if models know another one. */
  listedAs: Text.optional(),
  /** True for a `dynamicTool()`, whose calls steps list separately. */
  isDynamic: Flag.optional(),
  /** Replaces the JSON result for the model. */
  toModelOutput: callback<ToModelOutput>().optional(),
};

export type ForeignShape = z.infer<z.ZodObject<typeof foreign>>;

/** Schema of the result of `fromAiSdkTool`. */
export const ForeignToolConfig = settings({
  ...fields,
  ...foreign,
  inputSchema: Schema,
  execute: must(
    `a function, 'client' or 'provider'`,
    (value) => value === 'client' || value === 'provider' || isFunction(value),
  ),
}).superRefine(checkTool);

/** Checks fields that require or exclude each other. */
function checkTool(
  tool: Partial<Record<keyof typeof fields, unknown>>,
  context: z.RefinementCtx,
): void {
  const isClient = tool.execute === 'client' || tool.execute === 'provider';
  const refuse = (field: string, message: string): void => {
    context.addIssue({ code: 'custom', path: [field], message });
  };
  for (const field of isClient ? SERVER_ONLY : []) {
    if (tool[field] === undefined) continue;
    refuse(field, `works on the server only; remove it, or replace execute: 'client'`);
  }
  if (tool.retry !== undefined && tool.idempotent !== true) {
    refuse('retry', 'executes a call again, so the tool must also set idempotent: true');
  }
  const isHook = tool.execute === 'webhook';
  if (isHook !== (tool.send !== undefined)) {
    refuse('send', `passes the address of a webhook on: it belongs to execute: 'webhook'`);
  }
  if (isHook && tool.finishWith !== undefined) {
    refuse('finishWith', `takes what execute returns, and a webhook's answer is none`);
  }
  if (tool.verify !== undefined && tool.idempotent === true) {
    refuse('verify', 'is asked before a call is executed again; an idempotent one always is');
  }
  for (const field of OF_APPROVALS) {
    if (tool[field] === undefined || tool[field] === false) continue;
    if (tool.requireApproval === undefined) {
      refuse(field, 'says who may approve, so the tool must also set requireApproval');
    } else if (tool.onExpiry === 'approve') {
      refuse(field, `demands a person, so onExpiry must not be 'approve'`);
    }
  }
  const waits = isClient || isHook || tool.requireApproval !== undefined;
  if (tool.deadlineMs !== undefined && !waits) {
    refuse(
      'deadlineMs',
      `needs requireApproval, execute: 'client' or 'webhook'; use timeoutMs for execute`,
    );
  }
  if (tool.onExpiry === undefined) return;
  const fault =
    tool.deadlineMs === undefined
      ? 'needs a deadlineMs'
      : isClient
        ? findResultFault(tool.onExpiry, tool.outputSchema)
        : findDecisionFault(tool.onExpiry, isHook && tool.requireApproval === undefined);
  if (fault !== undefined) refuse('onExpiry', fault);
}

/** A tool that `createSubAgentTool` made. */
export const SubAgentTool = settings({
  ...named,
  inputSchema: InputSchema,
  execute: must(`'agent'`, (value) => value === 'agent'),
  subAgent: settings({
    agent: must('what defineAgent() returned', isAgent),
    toMessage: Callback,
  }),
});

function trueOr<F>(): z.ZodType<true | F> {
  return must<true | F>('true or a function', (value) => value === true || isFunction(value));
}

/** Returns true if a value looks like a result of `defineAgent`. */
export function isAgent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'name' in value && 'systemPrompt' in value;
}

function isApprovers(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((role: unknown) => APPROVERS.has(role))
  );
}

export function isWhole(value: unknown, from: number, to: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to;
}

function isZodSchema(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

function findDecisionFault(onExpiry: unknown, isHook: boolean): string | undefined {
  if (isHook) return 'is of approvals and client tools';
  return onExpiry === 'deny' || onExpiry === 'approve'
    ? undefined
    : `of an approval must be 'deny' or 'approve'`;
}

function findResultFault(onExpiry: unknown, output: unknown): string | undefined {
  if (typeof onExpiry !== 'object' || onExpiry === null || !('result' in onExpiry)) {
    return 'of a client tool must be { result }';
  }
  const { result } = onExpiry;
  const fault = result === undefined ? undefined : findJsonFault(result);
  if (fault !== undefined) return `has a result that cannot be stored: ${fault}`;
  return !isZodSchema(output) || output.safeParse(result).success
    ? undefined
    : 'has a result that does not fit outputSchema';
}

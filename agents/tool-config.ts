import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { FlexibleSchema, ModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';
import { findJsonFault } from '../protocol/json-depth.js';
import type { Responder } from '../protocol/responder.js';
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

/** The result of a call as the model gets it; name and shape are those of the AI SDK. */
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

/** The call that a rule decides about. */
export interface ApprovalCall extends ToolCallIdentity {
  /** What the model was given in the step that made the call, without the system prompt. */
  readonly messages: readonly ModelMessage[];
}

export type ApprovalVerdict = boolean | { readonly approve: boolean; readonly reason?: string };

/** The call that a responder wants to approve. */
export interface ApprovalRequest {
  /** The conversation, and its owner. */
  readonly sessionId: string;
  readonly owner: string;
  readonly tenantId?: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** What would be executed: the model's input, or the responder's own version of it. */
  readonly input: unknown;
}

/**
 * Decides whether a responder may approve a call. It is asked when the question is shown, with the
 * model's input, and again for the answer. One that throws refuses.
 */
export type ApproverRule = (
  responder: Responder,
  request: ApprovalRequest,
) => ApproverVerdict | Promise<ApproverVerdict>;

/** `reason` is shown to the responder. */
export type ApproverVerdict = boolean | { readonly allowed: boolean; readonly reason?: string };

/** The hooks `onInputStart`, `onInputDelta` and `onInputAvailable` of a tool of the AI SDK. */
export type InputHooks = Readonly<
  Partial<Record<'start' | 'delta' | 'available', (options: InputHookOptions) => unknown>>
>;

export interface InputHookOptions {
  readonly toolCallId: string;
  /** What the model was given, without the system prompt. */
  readonly messages: ModelMessage[];
  readonly abortSignal: AbortSignal;
  /** A piece of the JSON text, for `delta`. */
  readonly inputTextDelta?: string;
  /** As the schema gives it, for `available`. */
  readonly input?: unknown;
}

/** Names of the field in the AI SDK and elsewhere. */
const INSTEAD_OF = {
  parameters: 'inputSchema',
  input: 'inputSchema',
  schema: 'inputSchema',
  needsApproval: 'requireApproval',
  handler: 'execute',
  run: 'execute',
};
/** What the server does around `execute`, and a browser cannot. */
const SERVER_ONLY = [
  'requireApproval',
  'timeoutMs',
  'finishWith',
  'retry',
  'activity',
  'verify',
] as const;
/** What only an approval has. */
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

/** How often, and after which delays, a tool that throws is executed again. */
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
  /** Its name for people, such as `Refund an order`. Default: its name in words. */
  title: must<string>(
    'a text of 1 to 200 characters',
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= 200,
  ).optional(),
  /** Explains to the model when and how to use the tool; people who approve its calls read it too. */
  description: must<string>(
    'a text for the model that is not empty',
    (value) => typeof value === 'string' && value.trim() !== '',
  ),
};

/** The fields of every tool; callbacks are typed from its schemas by `ToolConfig`. */
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
   * Who may approve: callers with one of these roles, or those that the function accepts. Default:
   * the owner of the conversation, and approvers of the tenant.
   */
  approvers: must<readonly ('approver' | 'operator')[] | ApproverRule>(
    `a function, or a list of the roles 'approver' and 'operator'`,
    (value) => isFunction(value) || isApprovers(value),
  ).optional(),
  /** True if a person who asked for the call may not approve it, under any account. Default: false. */
  separateApprover: Flag.optional(),
  /** Safe to run again when a worker died in the middle of it. Default: false, never repeated. */
  idempotent: Flag.optional(),
  verify:
    callback<(input: unknown, call: LostCall) => Verification | Promise<Verification>>().optional(),
  /** Executes a call again when the tool throws; only for tools that are `idempotent`. Default: never. */
  retry: Retry.optional(),
  finishWith: trueOr<(output: unknown) => unknown>().optional(),
  /** How long a client tool, a webhook or an approval waits for its answer, in ms. Default: no limit. */
  deadlineMs: Duration.optional(),
  /**
   * The outcome of a call whose deadline has passed: approvals take `'deny'` (the default) or
   * `'approve'`, client tools `{ result }`, which the model sees in place of the client's.
   */
  onExpiry: z.custom<OnExpiry>(() => true).optional(),
  /** How long `execute` may take, in ms. Default: the worker's. */
  timeoutMs: Duration.optional(),
  /**
   * Settings of the Temporal activity that executes a call, such as a task queue for workers with
   * special hardware. Such a call always has an activity of its own. One that fails for good by
   * these settings gives the model an error.
   */
  activity: Activity.optional(),
};

/** What `defineTool` accepts. */
export const ToolConfig = settings(fields, INSTEAD_OF).superRefine(checkTool);

/** What every tool has, as its author writes it. */
export type ToolShape = z.infer<z.ZodObject<typeof fields>>;

/** A tool as its author writes it; the callbacks are typed from the schemas. */
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
  /** Must describe an object. Every input is checked against it before anything else happens. */
  inputSchema: Input;
  /** Checks what `execute` or the client returned. */
  outputSchema?: Output;
  /**
   * Runs on a worker and returns something that JSON can carry; the model sees what it throws.
   * `'client'`: the browser carries the call out and sends the result back. `'webhook'`: another system
   * does; the first JSON that is posted to the address of the call and fits `outputSchema` is the result.
   */
  execute:
    | 'client'
    | 'webhook'
    | ((input: z.output<Input>, context: ToolContext) => Result | Promise<Result>);
  /**
   * With `execute: 'webhook'`: runs on a worker and passes the address on. Then the call waits, without
   * a process. The address cannot be guessed, and is the same in every attempt.
   */
  send?: (url: string, input: z.output<Input>, context: ToolContext) => unknown;
  /** A person must agree before `execute` runs; the function form decides call by call. */
  requireApproval?: true | ApprovalRule<z.output<Input>>;
  /**
   * Finds out, after a worker died in the middle of a call, whether the call took effect: from the
   * system that it changes, by the idempotency key. An error, or no answer within a minute, counts as
   * unknown. Default: unknown.
   */
  verify?: (
    input: z.output<Input>,
    call: LostCall,
  ) => Verification<z.input<Output>> | Promise<Verification<z.input<Output>>>;
  /**
   * The result of a successful call becomes the run's, which ends once the step's other calls are
   * settled; the function form maps the one to the other. It has to fit the agent's `outputSchema`.
   */
  finishWith?: true | ((output: z.output<Output>) => unknown);
}

/** What a provider is given in place of the schema of a tool that it defines. */
export interface ProviderTool {
  /** `<provider>.<tool>` */
  readonly id: `${string}.${string}`;
  readonly args: Readonly<Record<string, unknown>>;
  /** The result of a call may come in a later reply. */
  readonly defers?: boolean;
}

/** What only tools of the AI SDK have. */
const foreign = {
  /** Of a tool that its provider defines: what the provider is given in place of a schema. */
  provider: z.custom<ProviderTool>(() => true).optional(),
  /** What the model is given about it beside name and description. */
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
  /** The tool's name in the list of an MCP server or another origin, if models know it by another one. */
  listedAs: Text.optional(),
  /** Of a `dynamicTool()`: steps list its calls apart. */
  isDynamic: Flag.optional(),
  /** What the model gets in place of the result as JSON. */
  toModelOutput: callback<ToModelOutput>().optional(),
};

export type ForeignShape = z.infer<z.ZodObject<typeof foreign>>;

/** What `fromAiSdkTool` makes. */
export const ForeignToolConfig = settings({
  ...fields,
  ...foreign,
  inputSchema: Schema,
  execute: must(
    `a function, 'client' or 'provider'`,
    (value) => value === 'client' || value === 'provider' || isFunction(value),
  ),
}).superRefine(checkTool);

/** Fields that need each other, or exclude each other. */
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

/** True for what looks like the result of `defineAgent`. */
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

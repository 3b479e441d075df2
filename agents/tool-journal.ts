import type { z } from 'zod';
import type { Role } from '../protocol/actor.js';
import { ToolError } from './tool-error.js';

/**
 * Steps and waits of a tool. A tool that waits gives up its process; when the wait is over, `execute`
 * is called again from its beginning, on whatever worker there is by then, and everything that is
 * recorded here returns its recorded result. So code between steps runs several times, and must do
 * the same each time: effects and random values belong into steps.
 *
 * Names are unique within a call, and their order stays the same: otherwise the call ends with the
 * error `tool_order_changed`.
 */
export interface ToolJournal {
  /**
   * Carries something out once and keeps its result, which must be JSON of at most 256 KB. What
   * throws is not kept. If the worker dies in the middle, an `idempotent` tool carries the step out
   * again; otherwise the call ends as `tool_outcome_unknown`.
   *
   * @example
   * const order = await context.step('order', () => shop.order(input, context.idempotencyKey));
   */
  readonly step: <Result>(name: string, run: () => Result | Promise<Result>) => Promise<Result>;
  /**
   * Waits until then, for weeks if need be. A number is ms since the epoch.
   *
   * @example
   * await context.sleep(new Date(Date.now() + 24 * 3_600_000));
   */
  readonly sleep: (until: Date | number, options?: { name?: string }) => Promise<void>;
  /**
   * Asks a person or another system, and waits for an answer that fits the schema. The question is a
   * pending call: pages show it as the call of a client tool, inboxes list it, and
   * `POST /pending/:toolCallId` answers it with `{ result }`.
   *
   * @throws WaitError `wait_expired` after the deadline, `wait_failed` if the answer is an error,
   *   `invalid_answer` if it passed the JSON Schema but not the schema
   * @example
   * const { limit } = await context.suspend({
   *   name: 'choose_limit',
   *   schema: z.object({ limit: z.number() }),
   *   data: { question: 'Which limit?' },
   *   deadlineMs: 7 * 24 * 3_600_000,
   * });
   */
  readonly suspend: <Schema extends z.ZodType>(
    options: SuspendOptions<Schema>,
  ) => Promise<z.output<Schema>>;
  /**
   * Waits for a request to an address that cannot be guessed: `POST /api/hooks/:token` with JSON, at
   * most 256 KB. `send` gets the address and passes it on; it is carried out once, as a step. The
   * first request that fits the schema counts, and further ones change nothing.
   *
   * @throws WaitError `wait_expired` after the deadline, `invalid_answer`
   * @example
   * const paid = await context.waitForWebhook({
   *   send: (url) => bank.requestPayment(input, { callbackUrl: url }),
   *   schema: z.object({ amount: z.number() }),
   *   deadlineMs: 24 * 3_600_000,
   * });
   */
  readonly waitForWebhook: <Schema extends z.ZodType = z.ZodUnknown>(
    options: WebhookOptions<Schema>,
  ) => Promise<z.output<Schema>>;
}

export interface WebhookOptions<Schema extends z.ZodType = z.ZodUnknown> {
  /** Default: `webhook`. A second one in a call needs a name of its own. */
  name?: string;
  /** Passes the address on. */
  send: (url: string) => unknown;
  /** What a request has to bring. Default: any JSON. */
  schema?: Schema;
  /** How long the address is good for, ms. */
  deadlineMs: number;
}

export interface SuspendOptions<Schema extends z.ZodType = z.ZodType> {
  /**
   * What pages and inboxes see as the name of the tool: letters, digits, `_` and `-`, at most 64.
   * Default: `suspend`, then `suspend_2` and so on.
   */
  name?: string;
  /** What an answer has to be. */
  schema: Schema;
  /** What is shown to the one who answers; JSON. */
  data?: unknown;
  /** How long people may take, ms after the pause. Default: no limit. */
  deadlineMs?: number;
  /** A person who answers needs one of these roles. Default: everyone who may answer in the conversation. */
  approvers?: readonly Role[];
  /** True if the person who asked may not answer. Default: false. */
  separateApprover?: boolean;
}

/**
 * `wait_expired`: no answer came in time · `wait_failed`: the answer is an error · `invalid_answer`.
 */
export type WaitErrorCode = 'wait_expired' | 'wait_failed' | 'invalid_answer';

/** A wait of a tool ended without a result. */
export class WaitError extends ToolError {
  override readonly name = 'WaitError';
  declare readonly code: WaitErrorCode;
}

import type { z } from 'zod';
import { WaitError, type ToolJournal } from '../../agents/tool-journal.js';
import { ToolError } from '../../agents/tool-error.js';
import type { JSONPatchOperation } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { ToolRow } from '../../protocol/rows.js';
import type { Calls } from '../../stores/contract/calls.js';
import type {
  Journal,
  Operation,
  RecordStepResult,
  SuspendCallInput,
  SuspendCallResult,
} from '../../stores/contract/journal.js';
import type { Writer } from '../../stores/contract/log.js';
import type { Attempt } from '../attempt.js';
import type { ChunkWriter } from '../chunk-writer.js';
import { JournalFailure, orderText, takeName, tooManySteps } from './journal-names.js';
import { mintSecret, toQuestion, toTimer, toWebhook } from './journal-waits.js';
import { toOutcome } from './tool-outcome.js';

/** How an execution ends before the tool returns: its tool waits. */
export interface Suspended {
  kind: 'suspended';
}

/** The steps and waits of one execution. */
export interface CallJournal extends ToolJournal {
  /** True while the tool repeats what an earlier execution has done. */
  isRepeating: () => boolean;
  /** Resolves when the tool waits. Rejects if the execution cannot continue; JournalFailure says why. */
  interruption: Promise<Suspended>;
}

interface JournalDeps {
  calls: Pick<Calls, 'recordStep' | 'suspend'>;
  writer: Writer;
  call: { toolCallId: string; toolName: string };
  /** Of earlier executions. */
  recorded: Journal;
  attempt: Pick<Attempt, 'cut'>;
  chunks: Pick<ChunkWriter, 'flush'>;
  /** The address of a webhook of this call. */
  toWebhookUrl: (secret: string) => string;
  /** What the tool has changed in the agent's state since this was called last. */
  takeChanges: () => JSONPatchOperation[];
}

type Waiting = Pick<SuspendCallInput, 'wait' | 'dueInMs'>;

export function createCallJournal(deps: JournalDeps): CallJournal {
  const { calls, writer, call, recorded, attempt, chunks, takeChanges } = deps;
  const { toolCallId } = call;
  const lastRecorded = recorded.findLastIndex((operation) => operation !== null);
  const names = new Set<string>();
  const steps = new Set<Promise<unknown>>();
  let begun = 0;
  let isWaiting = false;
  let resolve: (how: Suspended) => void = () => undefined;
  let reject: (why: unknown) => void = () => undefined;
  const interruption = new Promise<Suspended>((...both) => {
    [resolve, reject] = both;
  });
  // Often the execution has ended otherwise.
  interruption.catch(() => undefined);

  /** The next operation: its place, and what is recorded there. @throws what `end` gives */
  function begin(kind: Operation['kind'], wanted: string | undefined) {
    const at = begun;
    begun += 1;
    try {
      const name = takeName(names, kind, wanted);
      const known = recorded[at] ?? undefined;
      if (known !== undefined && (known.kind !== kind || known.name !== name)) {
        throw new JournalFailure('tool_order_changed', orderText(at, known, { kind, name }));
      }
      return { at, name, known };
    } catch (error) {
      return end(error);
    }
  }

  /** The execution is over, whatever the tool does with this error. */
  function end(error: unknown): never {
    reject(error);
    throw error;
  }

  /** The tool gets no reply: its execution has ended. */
  async function check(reply: RecordStepResult | SuspendCallResult): Promise<void> {
    switch (reply.kind) {
      case 'recorded':
      case 'suspended':
        return;
      case 'stopped':
        attempt.cut('stop');
        break;
      case 'full':
        return end(tooManySteps());
      default:
        attempt.cut(reply.kind);
    }
    await new Promise(() => undefined);
  }

  async function record(at: number, operation?: Operation): Promise<void> {
    const changes = operation === undefined ? [] : takeChanges();
    if (operation !== undefined) await chunks.flush();
    const input = { writer, toolCallId, at, now: Date.now(), operation, changes };
    await check(await calls.recordStep(input).catch(end));
  }

  async function carryOut<Result>(
    at: number,
    name: string,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    await record(at);
    let result: unknown;
    try {
      result = await toResult(name, run);
    } catch (error) {
      // The tool may catch this and continue. A worker that dies then has not died in the step.
      const failure = { writer, toolCallId, at, now: Date.now(), failed: true };
      await check(await calls.recordStep(failure).catch(end));
      throw error;
    }
    await record(at, { kind: 'step', name, result });
    return result as Result;
  }

  async function wait(
    kind: Exclude<Operation['kind'], 'step'>,
    wanted: string | undefined,
    toWaiting: (name: string) => Waiting,
  ): Promise<unknown> {
    const { at, name, known } = begin(kind, wanted);
    if (known !== undefined && known.kind !== 'step' && known.row !== undefined) {
      return toAnswer(known.row);
    }
    // Only one wait is recorded at a time; what runs beside it is completed first.
    if (isWaiting) return new Promise(() => undefined);
    isWaiting = true;
    let waiting: Waiting;
    try {
      waiting = toWaiting(name);
    } catch (error) {
      return end(error);
    }
    await Promise.allSettled(steps);
    await chunks.flush();
    const changes = takeChanges();
    const operation = { kind, name };
    const input = { writer, toolCallId, at, now: Date.now(), operation, changes, ...waiting };
    await check(await calls.suspend(input).catch(end));
    resolve({ kind: 'suspended' });
    return new Promise(() => undefined);
  }

  const step: ToolJournal['step'] = async (name, run) => {
    const { at, known } = begin('step', name);
    if (known?.kind === 'step') return known.result as Awaited<ReturnType<typeof run>>;
    if (isWaiting) return new Promise(() => undefined);
    const work = carryOut(at, name, run);
    steps.add(work);
    return work.finally(() => steps.delete(work));
  };

  return {
    step,
    waitForWebhook: async (options) => {
      const { name = 'webhook', send, schema } = options;
      const secret = await step(`${name} secret`, mintSecret);
      await step(`${name} sent`, () => send(deps.toWebhookUrl(secret)));
      const sent = await wait('webhook', name, (named) => toWebhook(call, named, secret, options));
      return schema === undefined ? (sent as never) : parseAnswer(schema, sent);
    },
    sleep: async (until, { name } = {}) => {
      await wait('sleep', name, (named) => toTimer(call, named, until));
    },
    suspend: async (options) => {
      const answer = await wait('suspend', options.name, (named) =>
        toQuestion(writer, call, named, options),
      );
      return parseAnswer(options.schema, answer);
    },
    isRepeating: () => begun <= lastRecorded,
    interruption,
  };
}

/** What a step returned, as it is recorded. @throws ToolError if it cannot be recorded */
async function toResult(name: string, run: () => unknown): Promise<unknown> {
  const outcome = toOutcome(await run());
  if ('error' in outcome) throw new ToolError(outcome.errorCode, outcome.error);
  if (Buffer.byteLength(JSON.stringify(outcome.output)) > LIMITS.stepResultBytes) {
    throw new ToolError('tool_result_too_large', `The result of "${name}" is too large.`);
  }
  return outcome.output;
}

/** The result of a wait. @throws WaitError */
function toAnswer({ output, error, errorCode }: ToolRow): unknown {
  if (error === undefined) return output;
  if (errorCode === 'client_tool_timeout') {
    throw new WaitError('wait_expired', 'No answer came in time.');
  }
  throw new WaitError('wait_failed', error);
}

/** @throws WaitError `invalid_answer` */
async function parseAnswer<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
): Promise<z.output<Schema>> {
  const parsed = await schema.safeParseAsync(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new WaitError('invalid_answer', issue?.message ?? 'The answer does not fit.');
}

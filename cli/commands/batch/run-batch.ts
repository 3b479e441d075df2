import { Option, type Command } from 'commander';
import type { OperatorBatch, OperatorBatchPlan } from '../../../protocol/batch.js';
import { sleep } from '../../../protocol/time.js';
import type { ApiClient } from '../../api/client.js';
import { createPatientLook } from '../../api/patient-look.js';
import type { Cli } from '../../cli.js';
import { confirm } from '../../confirm.js';
import { EXIT } from '../../exit-codes.js';
import { parseCount } from '../../parse-values.js';
import { yesOption, type Work } from '../options.js';
import { BATCHES, TARGETS, toProblemLines, type Target } from './kinds.js';

export interface BatchOptions {
  yes?: boolean;
  dryRun?: boolean;
  rps?: number;
  wait: boolean;
}

/** Adds the options of an act on many. */
export function addBatchOptions(command: Command): Command {
  return command
    .addOption(yesOption())
    .option('--dry-run', 'only print which they would be')
    .addOption(new Option('--rps <n>', 'with a filter: acts a second').argParser(parseCount))
    .option('--no-wait', 'with a filter: do not wait for the end');
}

/** The act, and which runs or calls; as the API takes it. */
export interface BatchOrder {
  act: OperatorBatch['act'];
  filter: Record<string, string | undefined>;
  reason?: string | undefined;
  mode?: string | undefined;
}

const BATCHES_PATH = '/api/operator/batches';
const LOOK_EVERY_MS = 500;

/**
 * Acts on all that matches a filter. What is shown before a person says yes is what is acted upon. The
 * batch continues on the server if the command is ended.
 */
export async function runBatch(
  cli: Cli,
  { api, output, options }: Work<BatchOptions>,
  { filter, ...order }: BatchOrder,
): Promise<void> {
  const { dryRun = false, yes = false, rps, wait } = options;
  const { terminal } = cli;
  let of: object = { filter };
  if (dryRun || !yes) {
    const plan = await api.post<OperatorBatchPlan>(BATCHES_PATH, { ...order, ...of, dryRun: true });
    const refused = plan.problems.length;
    if (refused > 0) terminal.note(`${String(refused)} more match that you may not act on.`);
    if (dryRun || plan.total === 0) {
      await output.list(TARGETS, plan.targets);
      return;
    }
    terminal.note(await output.draw(TARGETS, plan.targets));
    await confirm(terminal, `${order.act} ${String(plan.total)}?`, options);
    of = { targets: plan.targets.map(toName) };
  }
  const reply = await api.post<OperatorBatch | OperatorBatchPlan>(BATCHES_PATH, {
    ...order,
    ...of,
    rps,
  });
  if (!('id' in reply)) {
    await output.list(TARGETS, reply.targets);
    return;
  }
  if (wait) terminal.note(`Batch ${reply.id} runs; batch terminate ${reply.id} ends it.`);
  const batch = wait ? await untilEnded(cli, api, reply) : reply;
  await output.one(BATCHES, batch, toProblemLines(batch));
  if (batch.status === 'aborted') cli.exitWith(EXIT.stopped);
  else if (batch.failed > 0 || batch.status === 'failed') cli.exitWith(EXIT.failed);
}

function toName({ runId, toolCallId, inputHash }: Target): object {
  return { runId, toolCallId, inputHash };
}

async function untilEnded(cli: Cli, api: ApiClient, begun: OperatorBatch): Promise<OperatorBatch> {
  const look = createPatientLook(() => api.get<OperatorBatch>(`${BATCHES_PATH}/${begun.id}`), true);
  let batch = begun;
  let noted = 0;
  while (batch.status === 'running') {
    await sleep(LOOK_EVERY_MS);
    // A batch continues without the API, and one whose worker died is not answered for a while.
    batch = (await look()) ?? batch;
    const tried = batch.done + batch.skipped + batch.failed;
    if (tried > noted) cli.terminal.note(`${String(tried)} of ${String(batch.total)}`);
    noted = tried;
  }
  return batch;
}

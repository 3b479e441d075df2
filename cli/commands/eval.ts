import { writeFile } from 'node:fs/promises';
import type { CaseReport, LaneReport } from '../../testing/eval/index.js';
import type { Cli } from '../cli.js';
import { EXIT, wrongUsage } from '../failure.js';
import { OUTPUT_FORMATS } from '../output/output.js';
import { shownText } from '../output/shown-text.js';
import { parseNames } from '../parse-values.js';
import type { ApiCommand, Work } from './api-command.js';
import { readSession } from './session.js';

interface RunFlags {
  agents?: string;
  model?: string;
  baseline?: string | true;
  live?: string[];
  failOn?: string[];
  junit?: string;
}

/**
 * Rewrites `-o` of `eval record` to the option for its file, unless it names a format. In all other commands
 * `-o` is the program's. Pure.
 */
export function withFileOfRecord(argv: readonly string[]): string[] {
  const at = argv.findIndex((word, n) => word === 'eval' && argv[n + 1] === 'record');
  const isFormat = (word = ''): boolean => (OUTPUT_FORMATS as readonly string[]).includes(word);
  return argv.map((word, n) => {
    if (at < 0 || n <= at) return word;
    if (word === '-o') return isFormat(argv[n + 1]) ? word : '--out';
    const attached = /^(?:-o|--output=)(?!$)(.*)$/.exec(word)?.[1];
    return attached === undefined || isFormat(attached) ? word : `--out=${attached}`;
  });
}

/** `eval`: runs recorded conversations against the current agents. */
export function addEvalCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program
    .command('eval')
    .description('Record conversations, and run agents on them again.');
  noun
    .command('record')
    .description('Freeze a conversation as a case: messages, calls, results and decisions.')
    .argument('<session>', 'id of the conversation')
    .option('--out <file>', 'where it is written, also -o; default: it is printed')
    .act(async ({ options: { out }, api }: Work<{ out?: string }>, id: string) => {
      const { agent, run, messages } = await readSession(api, id, { hidden: true });
      const { toCase } = await import('../../testing/eval/index.js');
      const facts = { name: id, agent, status: run.status, now: new Date(cli.now()), messages };
      let text: string;
      try {
        text = JSON.stringify(toCase(facts), null, 2);
      } catch (error) {
        throw wrongUsage(`${id}: ${error instanceof Error ? error.message : String(error)}.`);
      }
      if (out === undefined) cli.terminal.print(text);
      else {
        await writeFile(out, `${text}\n`).catch((error: unknown) => {
          const reason = (error as NodeJS.ErrnoException).code ?? 'unknown';
          throw wrongUsage(`${out} cannot be written (${reason}).`);
        });
        cli.terminal.note(`${id} is in ${out}. Look at it before you share it.`);
      }
    });
  noun
    .command('run')
    .summary('run the current agents on recorded cases')
    .description(
      'Runs the current agents on recorded cases, in memory. Tools, approvals and client tools give what\n' +
        'was recorded; only models are called. A call that was not recorded is drift, and fails its case.',
    )
    .argument('<path>', 'a folder of cases, or one case')
    .option('--agents <file>', 'file of the agents; default: AGENTS, else agents.ts')
    .option('--model <model>', 'model of the candidate, as in MODEL')
    .option('--baseline [file]', 'a lane more: the agents before the change, or without --model')
    .option('--live <tools>', 'execute these for real where a call was not recorded', parseNames)
    .option('--fail-on <differences>', 'what fails a case; default: drift,status,tools', parseNames)
    .option('--junit <file>', 'write the outcome as XML of JUnit')
    .act(async ({ options, output }: Work<RunFlags>, path: string) => {
      cli.endWithCommand();
      const { runCases } = await import('../eval/run-cases.js');
      const reports = await runCases({ ...options, path, env: cli.env });
      const passed = reports.every((report) => report.passed);
      await output.text({ passed, cases: reports }, () =>
        reports.map((report) => toLines(cli, report)).join('\n'),
      );
      cli.exitWith(passed ? EXIT.done : EXIT.failed);
    });
}

function toLines({ terminal }: Cli, { name, passed, lanes }: CaseReport): string {
  const sign = passed ? terminal.style('green', '✓') : terminal.style('red', '✗');
  return [`${sign} ${shownText(name)}`, ...lanes.flatMap(toLaneLines)].join('\n');
}

function toLaneLines({ lane, steps, tools, differences, ...used }: LaneReport): string[] {
  const { inputTokens, outputTokens, costMicroUsd } = used;
  const tokens =
    inputTokens === undefined ? [] : [`${String(inputTokens)}/${String(outputTokens)} tokens`];
  const cost = costMicroUsd === undefined ? [] : [`$${(costMicroUsd / 1e6).toFixed(4)}`];
  const called = tools.length === 0 ? 'no tools' : tools.join(', ');
  const facts = [`${String(steps)} steps`, ...tokens, ...cost, called].join(' · ');
  return [
    `  ${lane.padEnd(9)} ${shownText(facts)}`,
    ...differences.map((each) => `            ${each.in}: ${shownText(each.text)}`),
  ];
}

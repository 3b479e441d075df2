import { Command } from 'commander';
import type { Cli } from '../cli.js';
import type { Verdict } from '../doctor/verdict.js';
import { EXIT } from '../failure.js';
import { createOutput, type OutputOptions } from '../output/output.js';
import { shownText } from '../output/shown-text.js';

interface DoctorOptions extends OutputOptions {
  url?: string;
  enginesOnly?: boolean;
}

const SIGNS = {
  ok: ['green', '✓'],
  note: ['dim', '·'],
  warn: ['yellow', '!'],
  fail: ['red', '✗'],
} as const;

/** `doctor`: checks the engines with the settings of API and workers, without the API. */
export function createDoctorCommand(cli: Cli): Command {
  return new Command('doctor')
    .summary('check engines and settings')
    .description(
      'Checks Node, Redis, Temporal, clocks, keys and the model, by the same environment as API and\n' +
        'workers (REDIS_URL, TEMPORAL_…, TASK_QUEUE, MODEL). Exits with 1 if something is wrong.',
    )
    .option('--engines-only', 'before API and workers have been started')
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<DoctorOptions>();
      const { examine } = await import('../doctor/examine.js');
      const checks = await examine({
        env: cli.env,
        url: cli.connect(options).url,
        nodeVersion: process.versions.node,
        enginesOnly: options.enginesOnly ?? false,
        now: cli.now,
      });
      const isWell = checks.every(({ level }) => level !== 'fail');
      await createOutput(cli, options).text({ verdict: isWell ? 'ok' : 'fail', checks }, () =>
        checks.map((check) => toLines(cli, check)).join('\n'),
      );
      cli.exitWith(isWell ? EXIT.done : EXIT.failed);
    });
}

function toLines({ terminal }: Cli, { check, level, finding, fix }: Verdict): string {
  const [style, sign] = SIGNS[level];
  const line = `${terminal.style(style, sign)} ${check.padEnd(18)} ${shownText(finding)}`;
  return fix === undefined ? line : `${line}\n  ${' '.repeat(18)} → ${shownText(fix)}`;
}

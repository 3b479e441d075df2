import type { Cli } from '../cli.js';
import type { Verdict } from '../doctor/verdict.js';
import { EXIT } from '../failure.js';
import { shownText } from '../output/shown-text.js';
import type { ApiCommand, Work } from './api-command.js';

const SIGNS = {
  ok: ['green', '✓'],
  note: ['dim', '·'],
  warn: ['yellow', '!'],
  fail: ['red', '✗'],
} as const;

/** `doctor`: checks the engines with the settings of API and workers, without the API. */
export function addDoctorCommand(program: ApiCommand): void {
  const { cli } = program;
  program
    .command('doctor')
    .summary('check engines and settings')
    .description(
      'Checks Node, Redis, Temporal, clocks, keys and the model, by the same environment as API and\n' +
        'workers (REDIS_URL, TEMPORAL_…, TASK_QUEUE, MODEL). Exits with 1 if something is wrong.',
    )
    .option('--engines-only', 'before API and workers have been started')
    .act(async ({ options, api, output }: Work<{ enginesOnly?: boolean }>) => {
      const { examine } = await import('../doctor/examine.js');
      const { enginesOnly = false } = options;
      const checks = await examine({ env: cli.env, url: api.url, enginesOnly, now: cli.now });
      const isWell = checks.every(({ level }) => level !== 'fail');
      await output.text({ verdict: isWell ? 'ok' : 'fail', checks }, () =>
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

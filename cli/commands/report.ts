import { Command } from 'commander';
import type { HealthPart, HealthReply } from '../../protocol/health.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { shownText } from '../output/shown-text.js';
import { parseDuration } from '../parse-values.js';
import { workOf, type GlobalOptions } from './options.js';

const SIGNS = { ok: ['green', '✓'], warn: ['yellow', '!'], bad: ['red', '✗'] } as const;

/** `report`: verdicts on how the service does. */
export function createReportCommands(cli: Cli): Command {
  const noun = new Command('report').description('Get a verdict on how the service does.');
  return noun.addCommand(
    new Command('health')
      .description(
        'Judge work, errors, workers and waiting people, and name the one thing to do next. Exits\nwith 1 if people notice it now.',
      )
      .option('--period <duration>', 'what is judged', parseDuration, parseDuration('1h'))
      .action(async (_, self: Command) => {
        const { options, api, output } = workOf<GlobalOptions & { period: number }>(cli, self);
        const query = { period: Math.round(options.period / 1_000) };
        const report = await api.get<HealthReply>('/api/operator/health', { query });
        await output.text(report, () => toLines(cli, report).join('\n'));
        cli.exitWith(report.verdict === 'bad' ? EXIT.failed : EXIT.done);
      }),
  );
}

function toLines({ terminal }: Cli, report: HealthReply): string[] {
  const { flow, execution, liveness, people, next } = report;
  const line = (name: string, { state, text }: HealthPart): string => {
    const [style, sign] = SIGNS[state];
    return `${terminal.style(style, sign)} ${name.padEnd(10)} ${shownText(text)}`;
  };
  return [
    line('flow', flow),
    line('execution', execution),
    line('liveness', liveness),
    line('people', people),
    `→ ${shownText(next)}`,
  ];
}

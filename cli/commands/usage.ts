import { Command } from 'commander';
import type { UsageReply, UsageRow } from '../../protocol/usage.js';
import type { Cli } from '../cli.js';
import type { Kind } from '../output/output.js';
import { parseDay, parseText } from '../parse-values.js';
import { workOf, type GlobalOptions } from './options.js';

const MICRO = 1_000_000;

const ROWS: Kind<UsageRow> = {
  fields: [
    'day',
    'owner',
    'agent',
    'model',
    'runs',
    'inputTokens',
    'outputTokens',
    'cachedTokens',
    'cacheWriteTokens',
    'reasoningTokens',
    'costMicroUsd',
    'tenant',
  ],
  columns: [
    { title: 'DAY', show: ({ day }) => day ?? '' },
    { title: 'OWNER', show: ({ owner }) => owner ?? '' },
    { title: 'AGENT', show: ({ agent }) => agent ?? '' },
    { title: 'MODEL', show: ({ model }) => model ?? '' },
    { title: 'RUNS', show: ({ runs }) => runs },
    { title: 'INPUT', show: ({ inputTokens }) => inputTokens },
    { title: 'OUTPUT', show: ({ outputTokens }) => outputTokens },
    { title: 'USD', show: ({ costMicroUsd = 0 }) => (costMicroUsd / MICRO).toFixed(2) },
  ],
  none: 'Nothing was used.',
};

/** Columns with the tenant, for reports by tenant. */
const WITH_TENANT: Kind<UsageRow> = {
  ...ROWS,
  columns: [{ title: 'TENANT', show: ({ tenant }) => tenant ?? '' }, ...ROWS.columns],
};

interface UsageOptions extends GlobalOptions {
  since?: (now: number) => string;
  until?: (now: number) => string;
  by?: string;
}

/** `usage`: consumption of ended runs. */
export function createUsageCommands(cli: Cli): Command {
  const noun = new Command('usage').description('See what ended runs have used.');
  return noun.addCommand(
    new Command('report')
      .description('Sum up runs, tokens and cost of the tenant; days are UTC.')
      .option('--by <groups>', 'tenant, day, owner, agent, model, separated by commas', parseText)
      .option(
        '--since <day>',
        'first day: 30d, or 2026-11-01; default: that of the month',
        parseDay,
      )
      .option('--until <day>', 'last day; default: today', parseDay)
      .action(async (_, self: Command) => {
        const { options, api, output } = workOf<UsageOptions>(cli, self);
        const { by, since, until } = options;
        const now = cli.now();
        const query = { by, since: since?.(now), until: until?.(now) };
        const { usage } = await api.get<UsageReply>('/api/operator/usage', { query });
        await output.list(query.by?.includes('tenant') === true ? WITH_TENANT : ROWS, usage);
      }),
  );
}

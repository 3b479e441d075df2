import type { UsageReply, UsageRow } from '../../protocol/operator.js';
import type { Kind } from '../output/output.js';
import { parseDay, parseText } from '../parse-values.js';
import type { ApiCommand, Work } from './api-command.js';

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
  columns: {
    DAY: ({ day }) => day ?? '',
    OWNER: ({ owner }) => owner ?? '',
    AGENT: ({ agent }) => agent ?? '',
    MODEL: ({ model }) => model ?? '',
    RUNS: ({ runs }) => runs,
    INPUT: ({ inputTokens }) => inputTokens,
    OUTPUT: ({ outputTokens }) => outputTokens,
    USD: ({ costMicroUsd = 0 }) => (costMicroUsd / 1_000_000).toFixed(2),
  },
  none: 'Nothing was used.',
};

const WITH_TENANT: Kind<UsageRow> = {
  ...ROWS,
  columns: { TENANT: ({ tenant }) => tenant ?? '', ...ROWS.columns },
};

interface UsageOptions {
  since?: (now: number) => string;
  until?: (now: number) => string;
  by?: string;
}

/** `usage`: consumption of ended runs. */
export function addUsageCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program.command('usage').description('See what ended runs have used.');
  noun
    .command('report')
    .description('Sum up runs, tokens and cost of the tenant; days are UTC.')
    .option('--by <groups>', 'tenant, day, owner, agent, model, separated by commas', parseText)
    .option('--since <day>', 'first day: 30d, or 2026-11-01; default: that of the month', parseDay)
    .option('--until <day>', 'last day; default: today', parseDay)
    .act(async ({ options: { by, since, until }, api, output }: Work<UsageOptions>) => {
      const now = cli.now();
      const query = { by, since: since?.(now), until: until?.(now) };
      const { usage } = await api.get<UsageReply>('/api/operator/usage', { query });
      await output.list(by?.includes('tenant') === true ? WITH_TENANT : ROWS, usage);
    });
}

import { Command, Option } from 'commander';
import type {
  AuditEntryReply,
  AuditReply,
  AuditVerdictReply,
  SealedName,
} from '../../protocol/audit.js';
import { describeFault, describeRequest } from '../../protocol/audit-fault.js';
import { readPages } from '../api/pages.js';
import type { Cli } from '../cli.js';
import { EXIT } from '../failure.js';
import type { Kind } from '../output/output.js';
import { shownJsonText } from '../output/shown-text.js';
import { parseSince, parseText } from '../parse-values.js';
import { limitOption, noteMore, workOf, type GlobalOptions, type ListOptions } from './options.js';

const ENTRIES: Kind<AuditEntryReply> = {
  fields: [
    'n',
    'id',
    'at',
    'actor',
    'name',
    'isSealed',
    'roles',
    'via',
    'tenant',
    'action',
    'target',
    'outcome',
    'inputHash',
    'reasonHash',
    'detail',
  ],
  columns: [
    { title: 'N', show: ({ n }) => n },
    { title: 'AT', show: ({ at }, shown) => shown.time(at) },
    { title: 'ACTOR', show: ({ name, actor }) => name ?? actor },
    { title: 'VIA', show: ({ via }) => via },
    { title: 'ACTION', show: ({ action }) => action },
    { title: 'TARGET', show: ({ target }) => toTarget(target) },
    { title: 'OUTCOME', show: ({ outcome }) => outcome },
  ],
  none: 'No entries.',
};

interface AuditOptions extends ListOptions {
  since?: (now: number) => string;
  action?: string;
  actor?: string;
}

/** `audit`: the recorded acts of people. */
export function createAuditCommands(cli: Cli): Command {
  return new Command('audit')
    .description('See, export and verify the audit trail.')
    .addCommand(createListCommand(cli))
    .addCommand(createExportCommand(cli))
    .addCommand(createVerifyCommand(cli))
    .addCommand(createOpenCommand(cli));
}

function createListCommand(cli: Cli): Command {
  return new Command('list')
    .description('List entries of the audit trail, newest first.')
    .option('--since <time>', 'of this time or later: 24h, or a date', parseSince)
    .option('--action <action>', 'only this action, such as approve', parseText)
    .addOption(new Option('--actor <user>', 'only this person').argParser(parseText))
    .addOption(limitOption())
    .action(async (_, self: Command) => {
      const { options, api, output } = workOf<AuditOptions>(cli, self);
      const { limit, since, action, actor } = options;
      const filter = { since: since?.(cli.now()), action, actor };
      const entries = readPages(
        async (page) => {
          const query = { ...filter, ...page };
          const reply = await api.get<AuditReply>('/api/operator/audit', { query });
          const { entries, cursor, requests = [] } = reply;
          for (const request of requests) cli.terminal.note(describeRequest(request));
          return { items: entries, cursor };
        },
        limit,
        noteMore(cli, limit),
      );
      await output.list(ENTRIES, entries);
    });
}

function createExportCommand(cli: Cli): Command {
  return new Command('export')
    .description('Print the audit trail as JSON lines, newest first. The trail records it.')
    .option('--since <time>', 'of this time or later: 24h, or a date', parseSince)
    .action(async (_, self: Command) => {
      const { options, api } = workOf<GlobalOptions & Pick<AuditOptions, 'since'>>(cli, self);
      const query = { since: options.since?.(cli.now()) };
      for await (const line of api.lines('/api/operator/audit/export', { query })) {
        cli.terminal.print(shownJsonText(line));
      }
    });
}

function createVerifyCommand(cli: Cli): Command {
  return new Command('verify')
    .description('Check that the audit trail is as it was written. Exits with 1 if it is not.')
    .action(async (_, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      const verdict = await api.get<AuditVerdictReply>('/api/operator/audit/verify');
      const { ok, entries, signed, fault } = verdict;
      await output.text(verdict, () =>
        fault === undefined
          ? `${String(entries)} entries are as they were written; ${String(signed)} are signed.`
          : describeFault(fault),
      );
      cli.exitWith(ok ? EXIT.done : EXIT.failed);
    });
}

function createOpenCommand(cli: Cli): Command {
  return new Command('open')
    .description('Open the name of a person who was erased. It takes two operators within a day.')
    .argument('<pseudonym>', 'actor of an entry that is sealed', parseText)
    .action(async (pseudonym: string, _: object, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      const path = `/api/operator/audit/names/${encodeURIComponent(pseudonym)}`;
      const opened = await api.post<SealedName>(path);
      await output.text(opened, () => opened.name);
    });
}

function toTarget({ runId, sessionId, toolName, person }: AuditEntryReply['target']): string {
  const of = runId ?? sessionId ?? person ?? '-';
  return toolName === undefined ? of : `${toolName} of ${of}`;
}

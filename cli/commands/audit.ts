import type {
  AuditEntryReply,
  AuditReply,
  AuditVerdictReply,
  SealedName,
} from '../../protocol/audit.js';
import { describeFault, describeRequest } from '../../protocol/operator-clients.js';
import { readPages } from '../api/pages.js';
import { EXIT } from '../failure.js';
import type { Kind } from '../output/output.js';
import { shownJsonText, shownText } from '../output/shown-text.js';
import { parseSince, parseText } from '../parse-values.js';
import { LIMIT, noteMore, type ListOptions, type Work, type ApiCommand } from './api-command.js';

const PATH = '/api/operator/audit';
const SINCE = ['--since <time>', 'of this time or later: 24h, or a date', parseSince] as const;

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
  columns: {
    N: ({ n }) => n,
    AT: ({ at }, shown) => shown.time(at),
    ACTOR: ({ name, actor }) => name ?? actor,
    VIA: ({ via }) => via,
    ACTION: ({ action: act }) => act,
    TARGET: ({ target }) => toTarget(target),
    OUTCOME: ({ outcome }) => outcome,
  },
  none: 'No entries.',
};

interface SinceOption {
  since?: (now: number) => string;
}

interface AuditOptions extends ListOptions, SinceOption {
  action?: string;
  actor?: string;
}

/** `audit`: the recorded acts of people. */
export function addAuditCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program.command('audit').description('See, export and verify the audit trail.');
  noun
    .command('list')
    .description('List entries of the audit trail, newest first.')
    .option(...SINCE)
    .option('--action <action>', 'only this action, such as approve', parseText)
    .option('--actor <user>', 'only this person', parseText)
    .option(...LIMIT)
    .act(async (work: Work<AuditOptions>) => {
      const { options, api, output } = work;
      const { limit, since, action: act, actor } = options;
      const filter = { since: since?.(cli.now()), action: act, actor };
      const entries = readPages(
        async (page) => {
          const query = { ...filter, ...page };
          const { entries, cursor, requests = [] } = await api.get<AuditReply>(PATH, { query });
          for (const request of requests) {
            cli.terminal.note(shownText(describeRequest(request)));
          }
          return { items: entries, cursor };
        },
        limit,
        noteMore(work),
      );
      await output.list(ENTRIES, entries);
    });
  noun
    .command('export')
    .description('Print the audit trail as JSON lines, newest first. The trail records it.')
    .option(...SINCE)
    .act(async ({ options, api }: Work<SinceOption>) => {
      const query = { since: options.since?.(cli.now()) };
      for await (const line of api.lines(`${PATH}/export`, { query })) {
        cli.terminal.print(shownJsonText(line));
      }
    });
  noun
    .command('verify')
    .description('Check that the audit trail is as it was written. Exits with 1 if it is not.')
    .act(async ({ api, output }) => {
      const verdict = await api.get<AuditVerdictReply>(`${PATH}/verify`);
      const { ok, entries, signed, fault } = verdict;
      await output.text(verdict, () =>
        fault === undefined
          ? `${String(entries)} entries are as they were written; ${String(signed)} are signed.`
          : describeFault(fault),
      );
      cli.exitWith(ok ? EXIT.done : EXIT.failed);
    });
  noun
    .command('open')
    .description('Open the name of a person who was erased. It takes two operators within a day.')
    .argument('<pseudonym>', 'actor of an entry that is sealed', parseText)
    .act(async ({ api, output }, pseudonym: string) => {
      const path = `${PATH}/names/${encodeURIComponent(pseudonym)}`;
      const opened = await api.post<SealedName>(path);
      await output.text(opened, () => shownText(opened.name));
    });
}

function toTarget({ runId, sessionId, toolName, person }: AuditEntryReply['target']): string {
  const of = runId ?? sessionId ?? person ?? '-';
  return toolName === undefined ? of : `${toolName} of ${of}`;
}

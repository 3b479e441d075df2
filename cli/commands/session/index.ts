import { Command } from 'commander';
import type { ErasureReply } from '../../../protocol/replies.js';
import type { OperatorSession } from '../../../protocol/operator.js';
import type { ApiClient } from '../../api/client.js';
import type { Cli } from '../../cli.js';
import { shownJson, shownText } from '../../output/shown-text.js';
import { confirm, type Terminal } from '../../terminal.js';
import { workOf, yesOption, type ConsentOptions, type GlobalOptions } from '../options.js';

type Session = OperatorSession<ShownMessage>;

const PAGE = 100;
const ID = ['<session>', 'id of the conversation'] as const;

/** `session`: conversations. */
export function createSessionCommands(cli: Cli): Command {
  return new Command('session')
    .description('Read, export and erase conversations.')
    .addCommand(createShowCommand(cli))
    .addCommand(createExportCommand(cli))
    .addCommand(createDeleteCommand(cli));
}

function createShowCommand(cli: Cli): Command {
  return new Command('show')
    .description('Show a conversation. The server records who has read it.')
    .argument(...ID)
    .action(async (id: string, _, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      const session = await readSession(api, id, { hidden: false });
      const { agent, owner, run, messages } = session;
      await output.text(session, () =>
        [
          shownText(`${id}, agent ${agent}, owner ${owner}, run ${run.runId} ${run.status}`),
          ...messages.flatMap((message) => toMessageLines(message, cli.terminal)),
        ].join('\n'),
      );
    });
}

function createExportCommand(cli: Cli): Command {
  return new Command('export')
    .description('Print a conversation as JSON, with messages that it does not show.')
    .argument(...ID)
    .action(async (id: string, _, self: Command) => {
      const { api } = workOf<GlobalOptions>(cli, self);
      cli.terminal.print(shownJson(await readSession(api, id, { hidden: true }), 2));
    });
}

function createDeleteCommand(cli: Cli): Command {
  return new Command('delete')
    .description('Stop and erase a conversation of your own, for good.')
    .argument(...ID)
    .addOption(yesOption())
    .action(async (id: string, given: ConsentOptions, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      await confirm(cli.terminal, `Erase ${id} for good?`, given);
      const path = `/api/chat/${encodeURIComponent(id)}`;
      const receipt = await api.delete<ErasureReply>(path, { query: { receipt: true } });
      const { rows, workflows, complete } = receipt;
      await output.text(receipt, () => {
        const what = `${id} is erased: ${String(rows)} rows, ${String(workflows)} workflows.`;
        return complete ? what : `${what} Workers delete the rest in Temporal.`;
      });
    });
}

/** Reads a session with all of its messages. */
export async function readSession(
  api: ApiClient,
  id: string,
  { hidden }: { hidden: boolean },
): Promise<Session> {
  const path = `/api/operator/sessions/${encodeURIComponent(id)}`;
  const read = (offset: number): Promise<Session> =>
    api.get(path, { query: { offset, limit: PAGE, hidden } });
  const session = await read(0);
  const messages = [...session.messages];
  let { hasMore } = session;
  while (hasMore) {
    const page = await read(messages.length);
    messages.push(...page.messages);
    hasMore = page.hasMore && page.messages.length > 0;
  }
  return { ...session, messages, hasMore: false };
}

/** The printed fields of the AI SDK's UI message. */
interface ShownMessage {
  id: string;
  role: string;
  parts: Part[];
}

interface Part {
  type: string;
  text?: string;
  toolName?: string;
  state?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  filename?: string;
}

/** Formats a message as lines: its role, then its texts and calls. */
function toMessageLines(
  { role, parts }: ShownMessage,
  terminal: Pick<Terminal, 'style'>,
): string[] {
  return [terminal.style('bold', role), ...parts.flatMap(toPartLines)];
}

function toPartLines(part: Part): string[] {
  if (part.type === 'text') return indent(part.text ?? '');
  if (part.type === 'file') return indent(`[file ${part.filename ?? ''}]`);
  if (part.toolName === undefined) return [];
  const call = `${part.toolName} ${shownJson(part.input)} ${part.state ?? ''}`;
  if (part.errorText !== undefined) return indent(`→ ${call}: ${part.errorText}`);
  const result = part.output === undefined ? '' : `: ${shownJson(part.output)}`;
  return indent(`→ ${call}${result}`);
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${shownText(line)}`);
}

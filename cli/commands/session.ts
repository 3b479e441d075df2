import type { OperatorSession } from '../../protocol/operator.js';
import type { ErasureReply } from '../../protocol/replies.js';
import type { RecordedMessage } from '../../testing/eval/index.js';
import type { ApiClient } from '../api/client.js';
import { shownJson, shownText } from '../output/shown-text.js';
import { confirm } from '../terminal.js';
import { YES, type ConsentOptions, type Work, type ApiCommand } from './api-command.js';

type Session = OperatorSession<RecordedMessage>;
type Part = RecordedMessage['parts'][number] & { filename?: string };

const PAGE = 100;
const ID = ['<session>', 'id of the conversation'] as const;

/** `session`: conversations. */
export function addSessionCommands(program: ApiCommand): void {
  const { terminal } = program.cli;
  const noun = program.command('session').description('Read, export and erase conversations.');
  noun
    .command('show')
    .description('Show a conversation. The server records who has read it.')
    .argument(...ID)
    .act(async ({ api, output }, id: string) => {
      const session = await readSession(api, id, { hidden: false });
      const { agent, owner, run, messages } = session;
      await output.text(session, () =>
        [
          shownText(`${id}, agent ${agent}, owner ${owner}, run ${run.runId} ${run.status}`),
          ...messages.flatMap(({ role, parts }) => [
            terminal.style('bold', role),
            ...parts.flatMap(toPartLines),
          ]),
        ].join('\n'),
      );
    });
  noun
    .command('export')
    .description('Print a conversation as JSON, with messages that it does not show.')
    .argument(...ID)
    .act(async ({ api }, id: string) => {
      terminal.print(shownJson(await readSession(api, id, { hidden: true }), 2));
    });
  noun
    .command('delete')
    .description('Stop and erase a conversation of your own, for good.')
    .argument(...ID)
    .option(...YES)
    .act(async ({ options, api, output }: Work<ConsentOptions>, id: string) => {
      await confirm(terminal, `Erase ${id} for good?`, options);
      const path = `/api/chat/${encodeURIComponent(id)}`;
      const receipt = await api.delete<ErasureReply>(path, { query: { receipt: true } });
      const { rows, workflows, complete } = receipt;
      await output.text(receipt, () => {
        const what = `${id} is erased: ${String(rows)} rows, ${String(workflows)} workflows.`;
        return complete ? what : `${what} Workers delete the rest in Temporal.`;
      });
    });
}

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

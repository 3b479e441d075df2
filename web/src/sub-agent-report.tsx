import { useState, useSyncExternalStore, type ReactElement } from 'react';
import { useCurrentConversation } from './current-conversation.js';
import { ReplyText } from './reply-text.js';
import type { ReportItem } from './report-items.js';
import { toWords } from '../../protocol/shown-call.js';

const WORDS = { running: 'running…', done: 'done', failed: 'failed' } as const;

/** How the report of a call stands that ended before the page was loaded. */
const LOADING = {
  idle: 'Loading…',
  empty: 'Nothing more is stored of it.',
  failed: 'It could not be loaded. Close and open this to try again.',
} as const;

/** What another agent writes and does for a call: in sight while it works, folded afterwards. */
export function SubAgentReport({
  callId,
  isWorking,
}: {
  callId: string;
  isWorking: boolean;
}): ReactElement | null {
  const { reports } = useCurrentConversation();
  const items = useSyncExternalStore(reports.subscribe, () => reports.of(callId));
  const [loading, setLoading] = useState<keyof typeof LOADING>('idle');
  if (isWorking) return items.length === 0 ? null : <Items items={items} />;

  const load = (): void => {
    setLoading('idle');
    reports.load(callId).then(
      () => {
        setLoading('empty');
      },
      () => {
        setLoading('failed');
      },
    );
  };
  return (
    <details
      className="values"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && items.length === 0) load();
      }}
    >
      <summary>What it did</summary>
      {items.length === 0 ? <p role="status">{LOADING[loading]}</p> : <Items items={items} />}
    </details>
  );
}

function Items({ items }: { items: readonly ReportItem[] }): ReactElement {
  const hasSeveral = items.some(({ agentId }) => agentId !== items[0]?.agentId);
  return (
    <ol className="report" data-testid="sub-agent-report">
      {items.map((item, index) => (
        <li key={item.kind === 'tool' ? `${item.agentId} ${item.toolCallId}` : index}>
          {hasSeveral && item.agentId !== items[index - 1]?.agentId && (
            <span className="report-agent">{toWords(item.agent)}</span>
          )}
          {item.kind === 'text' ? (
            <ReplyText text={item.text} />
          ) : (
            <span className={`report-tool ${item.state}`}>
              {toWords(item.toolName)} <small>{WORDS[item.state]}</small>
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

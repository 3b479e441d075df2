import { useSyncExternalStore, type ReactElement } from 'react';
import { useCurrentConversation } from './current-conversation.js';
import { ReplyText } from './reply-text.js';
import { toWords } from './to-words.js';

const WORDS = { running: 'running…', done: 'done', failed: 'failed' } as const;

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
  if (items.length === 0) return null;
  const report = (
    <ol className="report" data-testid="sub-agent-report">
      {items.map((item, index) => (
        <li key={item.kind === 'tool' ? item.toolCallId : index}>
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
  if (isWorking) return report;
  return (
    <details className="values">
      <summary>What it did</summary>
      {report}
    </details>
  );
}

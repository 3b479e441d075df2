import { useState, useSyncExternalStore, type ReactElement } from 'react';
import { toWords } from '../../protocol/shown-call.js';
import { useCurrentConversation } from './current-conversation.js';
import { FieldList } from './field-list.js';
import { ReplyText } from './reply-text.js';
import type { ReportItem } from './sub-agent-reports.js';
import { toolCardState, type ToolPart } from './tool-state.js';

const TOOL_WORDS = { running: 'running…', done: 'done', failed: 'failed' } as const;

/** Loading states of the report of a call that ended before the page was loaded. */
const LOADING = {
  idle: 'Loading…',
  empty: 'Nothing more is stored of it.',
  failed: 'It could not be loaded. Close and open this to try again.',
} as const;

interface ReportProps {
  callId: string;
  isWorking: boolean;
}

/** Shows a sub-agent's texts and calls: open while it works, folded afterwards. */
function SubAgentReport({ callId, isWorking }: ReportProps): ReactElement | null {
  const { reports } = useCurrentConversation();
  const items = useSyncExternalStore(reports.subscribe, () => reports.of(callId));
  const [loading, setLoading] = useState<keyof typeof LOADING>('idle');
  if (isWorking) return items.length === 0 ? null : <Items items={items} />;

  const load = (): void => {
    setLoading('idle');
    reports.load(callId).then(
      () => setLoading('empty'),
      () => setLoading('failed'),
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
            <small className="report-agent">{toWords(item.agent)}</small>
          )}
          {item.kind === 'text' ? (
            <ReplyText text={item.text} />
          ) : (
            <span className={`soft ${item.state}`}>
              {toWords(item.toolName)} <small>{TOOL_WORDS[item.state]}</small>
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

interface Props {
  part: ToolPart;
  tool: string;
  name: string;
}

const WORDS = {
  running: 'working…',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
} as const;

/** Shows a sub-agent's call: its input, its report and its result. */
export function SubAgentCard({ part, tool, name }: Props): ReactElement {
  const state = toolCardState(part);
  return (
    <div
      role="group"
      className={`tool sub-agent ${state}`}
      aria-label={`${name}, ${WORDS[state]}`}
      data-testid="tool-card"
      data-tool={tool}
      data-state={state}
    >
      <header>
        <span className="sub-agent-name">
          <span className="avatar" aria-hidden="true">
            {name.slice(0, 1).toUpperCase()}
          </span>
          {name}
        </span>
        <span className="tool-state">
          {state === 'running' && <span className="status-dot" aria-hidden="true" />}
          {WORDS[state]}
        </span>
      </header>
      {part.input !== undefined && (
        <details className="values" data-testid="sub-agent-input">
          <summary>What it was asked</summary>
          <FieldList value={part.input} />
        </details>
      )}
      <SubAgentReport callId={part.toolCallId} isWorking={state === 'running'} />
      {part.state === 'output-available' && (
        <div className="result" data-testid="sub-agent-result">
          {typeof part.output === 'string' ? (
            <ReplyText text={part.output} />
          ) : (
            <FieldList value={part.output} />
          )}
        </div>
      )}
      {part.state === 'output-error' && <p data-testid="tool-error">{part.errorText}</p>}
    </div>
  );
}

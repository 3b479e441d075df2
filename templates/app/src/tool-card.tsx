import type { DynamicToolUIPart } from 'ai';

interface Props {
  part: DynamicToolUIPart;
  answer: (response: { id: string; approved: boolean }) => unknown;
}

/** A tool call, and the question whether it may run. */
export function ToolCard({ part, answer }: Props) {
  return (
    <section aria-label={part.toolName}>
      <strong>{part.toolName}</strong> <small>{toWords(part)}</small>
      <dl>
        {Object.entries((part.input ?? {}) as Record<string, unknown>).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{String(value)}</dd>
          </div>
        ))}
      </dl>
      {part.state === 'approval-requested' && (
        <p>
          <button onClick={() => answer({ id: part.approval.id, approved: true })}>Approve</button>{' '}
          <button onClick={() => answer({ id: part.approval.id, approved: false })}>Deny</button>
        </p>
      )}
    </section>
  );
}

function toWords({ state }: DynamicToolUIPart): string {
  if (state === 'approval-requested') return 'waits for you';
  if (state === 'output-available') return 'done';
  if (state === 'output-denied') return 'denied';
  return state === 'output-error' ? 'failed' : 'running';
}

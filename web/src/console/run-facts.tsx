import type { ReactElement, ReactNode } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import type { PageConfig } from '../api-client.js';
import { formatWhen } from '../format-when.js';
import { runUrl } from '../run-url.js';
import { formatSpan } from './format-span.js';
import { Link } from './link.js';
import { formatPlace } from './place.js';
import { STATUS_WORDS } from './status-words.js';

const MICRO = 1_000_000;

interface Props {
  run: OperatorRunDetail;
  config: PageConfig;
}

/** What is known of a run, and where else it can be seen. */
export function RunFacts({ run, config }: Props): ReactElement {
  const { status, agent, owner, sessionId, turn, stepCount, startedAt, endedAt, by } = run;
  const { error, reason, usage, pending, isNewest, mode, traceUrl } = run;
  const temporal = runUrl(config, run.runId);
  const facts: [name: string, value: ReactNode][] = [
    ['Agent', agent],
    ['Owner', owner],
    ...(by !== undefined && by !== owner ? [['Requested by', by] as [string, ReactNode]] : []),
    ['Conversation', sessionId],
    ['Turn', `${String(turn ?? 1)}${isNewest ? '' : ', not the newest run'} (${mode})`],
    ['Started', formatWhen(startedAt)],
    ...(endedAt === undefined
      ? []
      : [['Took', formatSpan(endedAt - startedAt)] as [string, ReactNode]]),
    ['Steps', String(stepCount)],
    ...(usage === undefined ? [] : [['Used', describeUsage(usage)] as [string, ReactNode]]),
  ];
  return (
    <section className="card" aria-label="The run">
      <p>
        <span className="badge" data-status={status} data-testid="run-status">
          {STATUS_WORDS[status]}
        </span>{' '}
        {error !== undefined && (
          <span data-testid="run-error">
            {error.message} <code>{error.code}</code>
          </span>
        )}
        {reason !== undefined && <span>Reason: {reason}</span>}
      </p>
      <dl className="fields facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="acts">
        {pending.length > 0 && (
          <Link href={formatPlace({ view: 'waiting', item: sessionId })} data-testid="to-waiting">
            {pending.length === 1 ? 'Its question' : `Its ${String(pending.length)} questions`}
          </Link>
        )}
        {temporal !== undefined && (
          <a href={temporal} target="_blank" rel="noreferrer" data-testid="temporal">
            In Temporal
          </a>
        )}
        {traceUrl !== undefined && (
          <a href={traceUrl} target="_blank" rel="noreferrer" data-testid="trace">
            Its trace
          </a>
        )}
        <Link href={formatPlace({ view: 'runs', settings: { owner } })}>Runs of this owner</Link>
      </p>
    </section>
  );
}

function describeUsage({
  inputTokens,
  outputTokens,
  costMicroUsd,
}: NonNullable<OperatorRunDetail['usage']>): string {
  const tokens = `${inputTokens.toLocaleString()} tokens in, ${outputTokens.toLocaleString()} out`;
  if (costMicroUsd === undefined) return tokens;
  return `${tokens}, $${(costMicroUsd / MICRO).toFixed(4)}`;
}

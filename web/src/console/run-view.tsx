import { useQuery } from '@tanstack/react-query';
import { Fragment, useState, type ReactElement, type ReactNode } from 'react';
import type { OperatorRunDetail, OperatorStep } from '../../../protocol/operator.js';
import { toWords } from '../../../protocol/shown-call.js';
import { runUrl, type PageConfig } from '../api-client.js';
import { Value } from '../field-list.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { read, runPath } from './console-api.js';
import { formatPlace } from './place.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { RunActs } from './run-acts.js';
import { hasEnded, STATUS_WORDS } from './status-words.js';
import { Link } from './use-place.js';

const MICRO = 1_000_000;

interface Props {
  run: OperatorRunDetail;
  config: PageConfig;
}

/** Shows a run's facts, with links to its conversation and to the Temporal UI. */
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

/** Shows one run: its facts, its steps, and the acts on it. */
export function RunView({ runId, config }: { runId: string; config: PageConfig }): ReactElement {
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => read<OperatorRunDetail>(runPath(runId), { signal }),
    // An ended run rarely changes.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && hasEnded(data.status) ? REFRESH_MS.seldom : REFRESH_MS.soon,
  });
  if (run.data === undefined) {
    return run.error === null ? (
      <p role="status">Loading…</p>
    ) : (
      <ProblemNote error={run.error} what="This run" />
    );
  }
  return (
    <>
      <ProblemNote error={run.error} what="This run" />
      <RunFacts run={run.data} config={config} />
      <RunActs run={run.data} roles={config.roles} />
      <h2>Steps</h2>
      <Steps run={run.data} />
    </>
  );
}

/** Lists the recorded steps; each opens its text and its calls' inputs and outputs. */
function Steps({ run }: { run: OperatorRunDetail }): ReactElement {
  if (run.steps.length === 0) return <p data-testid="no-steps">It has finished no step yet.</p>;
  return (
    <ol className="plain-list" data-testid="steps">
      {run.steps.map(({ step, calls }) => (
        <li key={step} className="card" data-testid="step">
          Step {step}
          {calls.length > 0 && (
            <ul>
              {calls.map(({ toolCallId, toolName, state, decision }) => (
                <li key={toolCallId} data-testid="call" data-state={state}>
                  {toWords(toolName)}: {state}
                  {decision !== undefined &&
                    `, ${decision.approved ? 'approved' : 'denied'} by ${decision.by ?? 'the tool’s rule'} (${formatWhen(decision.at)})`}
                </li>
              ))}
            </ul>
          )}
          <StepContents
            runId={run.runId}
            step={step}
            // A call that settles changes this value, and the step is read again.
            states={calls.map(({ state }) => state).join()}
          />
        </li>
      ))}
    </ol>
  );
}

interface StepProps {
  runId: string;
  step: number;
  states: string;
}

/** Reads and shows a step's text and its calls' inputs and outputs when it is opened. */
function StepContents({ runId, step, states }: StepProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const contents = useQuery({
    queryKey: ['step', runId, step, states],
    queryFn: ({ signal }) =>
      read<OperatorStep>(runPath(runId, `/steps/${String(step)}`), { signal }),
    enabled: isOpen,
    // The audit trail records each read of another person's conversation.
    staleTime: Infinity,
    retry: false,
  });
  return (
    <details
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary data-testid="open-step">What it read and wrote</summary>
      {contents.isLoading && <p role="status">Loading…</p>}
      <ProblemNote error={contents.error} what="What this step wrote" />
      {contents.data !== undefined && <Contents contents={contents.data} />}
    </details>
  );
}

/** Shows everything from models and tools as plain text. */
export function Contents({ contents }: { contents: OperatorStep }): ReactElement {
  const { step, prompt, text, reasoning, calls } = contents;
  return (
    <div className="contents" data-testid="contents">
      {step === 1 && prompt !== '' && <Value label="Asked" value={prompt} />}
      {reasoning !== '' && <Value label="Reasoning" value={reasoning} />}
      {text !== '' && <Value label="Text" value={text} />}
      {calls.map(({ toolCallId, toolName, input, changedInput, output, error }) => (
        <Fragment key={toolCallId}>
          <Value label={`Call ${toolName}`} value={input} />
          {changedInput !== undefined && <Value label="Changed input" value={changedInput} />}
          {output !== undefined && <Value label="Output" value={output} />}
          {error !== undefined && <Value label="Error" value={error} />}
        </Fragment>
      ))}
    </div>
  );
}

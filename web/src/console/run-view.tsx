import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState, type ReactElement, type ReactNode } from 'react';
import type { OperatorRunDetail, OperatorStep } from '../../../protocol/operator.js';
import { isTerminal } from '../../../protocol/run.js';
import { toWords } from '../../../protocol/shown-call.js';
import { goTo } from '../address.js';
import { runUrl, type PageConfig, mayAs } from '../api-client.js';
import { Value } from '../field-list.js';
import { formatSpan, formatWhen } from '../format-when.js';
import { read, runPath, act } from './console-api.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { STATUS_WORDS } from './status-words.js';
import { formatPlace, Link } from './use-place.js';
import type { RetryReply } from '../../../protocol/replies.js';
import { Choice } from '../choice.js';
import { ConfirmDialog } from './confirm-dialog.js';

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
    ['Requested by', by === owner ? undefined : by],
    ['Conversation', sessionId],
    ['Turn', `${String(turn ?? 1)}${isNewest ? '' : ', not the newest run'} (${mode})`],
    ['Started', formatWhen(startedAt)],
    ['Took', endedAt === undefined ? undefined : formatSpan(endedAt - startedAt)],
    ['Steps', String(stepCount)],
    ['Used', usage && describeUsage(usage)],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
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
        {known.map(([name, value]) => (
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
      data !== undefined && isTerminal(data.status) ? REFRESH_MS.seldom : REFRESH_MS.soon,
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
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
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

type Act = 'stop' | 'resume' | 'retry' | 'fork';

const TEXTS: Record<Act, { button: string; title: string; verb: string; text: string }> = {
  stop: {
    button: 'Stop',
    title: 'Stop this run?',
    verb: 'Stop the run',
    text: 'What it has written stays, and its open calls are settled. It can be continued later.',
  },
  resume: {
    button: 'Continue',
    title: 'Continue this run?',
    verb: 'Continue',
    text: 'It continues after its last step. Nothing that is done is done again.',
  },
  retry: {
    button: 'Repeat',
    title: 'Repeat this turn?',
    verb: 'Repeat the turn',
    text: 'The reply is dropped and made again. These calls were made, and may be made again:',
  },
  fork: {
    button: 'Fork',
    title: 'Continue from here in a copy?',
    verb: 'Fork the run',
    text: 'The copy belongs to the same owner; the original stays. These calls may be made again:',
  },
};

interface ActsProps {
  run: OperatorRunDetail;
  roles: PageConfig['roles'];
}

/** The acts that the person may perform on a run; nothing for viewers. */
function RunActs({ run, roles }: ActsProps): ReactElement | null {
  const [asked, setAsked] = useState<Act>();
  const [step, setStep] = useState<number>();
  const queries = useQueryClient();
  if (!mayAs(roles, 'operator') || run.subAgent === true) return null;

  const isOver = isTerminal(run.status);
  const points = forkPoints(run);
  const from = step ?? points.at(-1) ?? 0;
  const can: Record<Act, boolean> = {
    stop: run.isNewest && !isOver,
    resume: run.isNewest && (run.status === 'interrupted' || run.status === 'failed'),
    retry: run.isNewest && isOver,
    fork: points.length > 0,
  };
  const confirm = async (reason: string | undefined): Promise<void> => {
    const body = { reason, ...(asked === 'fork' && { step: from }) };
    const { runId } = await act<RetryReply>(runPath(run.runId, `/${asked ?? ''}`), body);
    if (asked !== 'stop') goTo(formatPlace({ view: 'runs', item: runId }));
    await queries.invalidateQueries({ queryKey: ['run', run.runId] });
    setAsked(undefined);
  };
  const again = run.steps
    .filter((each) => asked !== 'fork' || each.step > from)
    .flatMap(({ calls }) => calls)
    .filter(({ state }) => state !== 'denied');

  return (
    <div className="acts" role="group" aria-label="Acts on this run">
      {(Object.keys(TEXTS) as Act[])
        .filter((name) => can[name])
        .map((name) => (
          <button
            key={name}
            type="button"
            data-testid={`run-${name}`}
            onClick={() => setAsked(name)}
          >
            {TEXTS[name].button}
          </button>
        ))}
      {asked !== undefined && (
        <ConfirmDialog
          title={TEXTS[asked].title}
          verb={TEXTS[asked].verb}
          onConfirm={confirm}
          onClose={() => setAsked(undefined)}
        >
          <p>{TEXTS[asked].text}</p>
          {(asked === 'retry' || asked === 'fork') && (
            <ul className="plain-list" data-testid="again">
              {again.length === 0 && <li>none</li>}
              {again.map(({ toolCallId, toolName, kind }) => (
                <li key={toolCallId}>
                  {toolName}
                  {kind === 'approval' && ' (is asked about again)'}
                </li>
              ))}
            </ul>
          )}
          {asked === 'fork' && (
            <Choice
              label="Continue after"
              testId="fork-point"
              value={String(from)}
              options={points.map((point) => [String(point), nameOfPoint(point)] as const)}
              onChoose={(point) => setStep(Number(point))}
            />
          )}
        </ConfirmDialog>
      )}
    </div>
  );
}

/**
 * Returns the steps after which a copy of the run can continue; 0 means before the first step. A completed
 * run has no work after its last step, and a step whose calls have no results yet cannot be copied. Pure.
 */
export function forkPoints({
  steps,
  status,
}: Pick<OperatorRunDetail, 'steps' | 'status'>): number[] {
  const points = [{ step: 0, calls: [] }, ...steps];
  const ahead = status === 'completed' ? points.slice(0, -1) : points;
  return ahead.filter(hasResults).map(({ step }) => step);
}

function hasResults({ calls }: OperatorRunDetail['steps'][number]): boolean {
  return calls.every(
    ({ state, kind }) => kind === 'provider' || (state !== 'open' && state !== 'waiting'),
  );
}

function nameOfPoint(step: number): string {
  return step === 0 ? 'the message' : `step ${String(step)}`;
}

import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import { toWords } from '../../../protocol/shown-call.js';
import type { PageConfig } from '../api-client.js';
import { formatWhen } from '../format-when.js';
import { read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { RunActs } from './run-acts.js';
import { RunFacts } from './run-facts.js';
import { hasEnded } from './status-words.js';
import { StepContents } from './step-contents.js';

/** One run: what it is, what it did and when, and what can be done about it. */
export function RunView({ runId, config }: { runId: string; config: PageConfig }): ReactElement {
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => read<OperatorRunDetail>(runPath(runId), { signal }),
    // A run that has ended changes seldom, and its steps count as reads of the person who looks.
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
      {run.error !== null && <ProblemNote error={run.error} what="This run" />}
      <RunFacts run={run.data} config={config} />
      <RunActs run={run.data} roles={config.roles} />
      <h2>Steps</h2>
      <Steps run={run.data} />
    </>
  );
}

/** The steps of a run as its record has them; each opens what was written, given and returned. */
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
            // A call that is settled meanwhile has another state, and the step is read again.
            states={calls.map(({ state }) => state).join()}
          />
        </li>
      ))}
    </ol>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import type { OperatorTimeline } from '../../../protocol/timeline.js';
import { toWords } from '../../../protocol/to-words.js';
import type { PageConfig } from '../api-client.js';
import { formatWhen } from '../format-when.js';
import { read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';
import { REFRESH_MS } from './queries.js';
import { RunActs } from './run-acts.js';
import { RunFacts } from './run-facts.js';
import { hasEnded } from './status-words.js';
import { Timeline } from './timeline.js';

/** One run: what it is, what it did and when, and what can be done about it. */
export function RunView({ runId, config }: { runId: string; config: PageConfig }): ReactElement {
  const run = useQuery({
    queryKey: ['run', runId],
    queryFn: ({ signal }) => read<OperatorRunDetail>(runPath(runId), { signal }),
    // A run that has ended changes seldom, and its steps count as reads of the person who looks.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && hasEnded(data.status) ? REFRESH_MS.seldom : REFRESH_MS.soon,
  });
  const isOver = run.data !== undefined && hasEnded(run.data.status);
  const timeline = useQuery({
    queryKey: ['timeline', runId, isOver],
    queryFn: ({ signal }) => read<OperatorTimeline>(runPath(runId, '/timeline'), { signal }),
    refetchInterval: isOver ? false : REFRESH_MS.soon,
  });

  if (run.data === undefined) {
    return run.error === null ? (
      <p role="status">Loading…</p>
    ) : (
      <ProblemNote error={run.error} what="This run" />
    );
  }
  const spans = timeline.data?.spans ?? [];
  return (
    <>
      {run.error !== null && <ProblemNote error={run.error} what="This run" />}
      <RunFacts run={run.data} config={config} />
      <RunActs run={run.data} roles={config.roles} />
      <h2>Timeline</h2>
      {timeline.error !== null && <ProblemNote error={timeline.error} what="The timeline" />}
      {timeline.data !== undefined && spans.length > 0 && <Timeline timeline={timeline.data} />}
      {timeline.data !== undefined && !timeline.data.isWhole && (
        <p className="soft" data-testid="not-whole">
          {spans.length === 0
            ? 'The log of this run has expired. Its record is below.'
            : 'The log of this run is not whole: it was trimmed, or is too long to show.'}
        </p>
      )}
      {spans.length === 0 && <RecordedSteps run={run.data} />}
    </>
  );
}

/** The steps of a run as its record has them, without their times. */
function RecordedSteps({ run }: { run: OperatorRunDetail }): ReactElement {
  if (run.steps.length === 0) return <p data-testid="no-steps">It has finished no step yet.</p>;
  return (
    <ol className="plain-list" data-testid="recorded-steps">
      {run.steps.map(({ step, calls }) => (
        <li key={step}>
          Step {step}
          {calls.length > 0 && (
            <ul>
              {calls.map(({ toolCallId, toolName, state, decision }) => (
                <li key={toolCallId}>
                  {toWords(toolName)}: {state}
                  {decision !== undefined &&
                    `, ${decision.approved ? 'approved' : 'denied'} by ${decision.by ?? 'the tool’s rule'} (${formatWhen(decision.at)})`}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { OperatorStep, TimelineSpan } from '../../../protocol/timeline.js';
import { Value } from '../tool-values.js';
import { read, runPath } from './console-api.js';
import { formatSpan } from './format-span.js';
import { ProblemNote } from './problem-note.js';

/** What a span was about, as the record has it; a step that is under way has no record yet. */
export function StepContents({ span }: { span: TimelineSpan }): ReactElement {
  const { runId, step, toolCallId, state, firstAt, startedAt, inputTokens, outputTokens } = span;
  const { error } = span;
  // A model that failed before its first word has left nothing to read.
  const isBlank = error !== undefined && firstAt === undefined;
  const contents = useQuery({
    // A call that is settled meanwhile has another state, and is read again.
    queryKey: ['step', runId, step, state],
    queryFn: ({ signal }) =>
      read<OperatorStep>(runPath(runId, `/steps/${String(step)}`), { signal }),
    placeholderData: undefined,
    enabled: !isBlank,
    // Each read of a conversation of others is recorded.
    staleTime: Infinity,
    retry: false,
  });
  if (state === 'lost') {
    return <p className="contents">What this attempt wrote was withdrawn with it.</p>;
  }
  const why = error !== undefined && <Value label="Error" value={error} />;
  if (isBlank) {
    return (
      <div className="contents" data-testid="contents">
        {why}
      </div>
    );
  }
  if (contents.isPending) return <p role="status">Loading…</p>;
  if (contents.error !== null) {
    return <ProblemNote error={contents.error} what="What this step wrote" />;
  }
  const { prompt, text, reasoning, calls } = contents.data;
  const call = calls.find((each) => each.toolCallId === toolCallId);
  return (
    <div className="contents" data-testid="contents">
      {toolCallId === undefined && (
        <>
          {firstAt !== undefined && (
            <p className="soft">
              First output after {formatSpan(firstAt - startedAt)}
              {inputTokens !== undefined &&
                `, ${String(inputTokens)} tokens in, ${String(outputTokens ?? 0)} out`}
              .
            </p>
          )}
          {step === 1 && prompt !== '' && <Value label="Asked" value={prompt} />}
          {reasoning !== '' && <Value label="Reasoning" value={reasoning} />}
          {text !== '' && <Value label="Text" value={text} />}
          {calls.map(({ toolCallId: id, toolName, input }) => (
            <Value key={id} label={`Call ${toolName}`} value={input} />
          ))}
          {why}
        </>
      )}
      {call !== undefined && (
        <>
          <Value label="Input" value={call.input} />
          {call.changedInput !== undefined && (
            <Value label="Changed input" value={call.changedInput} />
          )}
          {call.output !== undefined && <Value label="Output" value={call.output} />}
          {call.error !== undefined && <Value label="Error" value={call.error} />}
        </>
      )}
      {toolCallId !== undefined && call === undefined && <p>The record has no such call.</p>}
    </div>
  );
}

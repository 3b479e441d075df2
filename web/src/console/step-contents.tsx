import { useQuery } from '@tanstack/react-query';
import { Fragment, useState, type ReactElement } from 'react';
import type { OperatorStep } from '../../../protocol/operator.js';
import { Value } from '../tool-values.js';
import { read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';

interface Props {
  runId: string;
  step: number;
  states: string;
}

/** What a step wrote, and what its calls were given and returned; read when it is opened. */
export function StepContents({ runId, step, states }: Props): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const contents = useQuery({
    queryKey: ['step', runId, step, states],
    queryFn: ({ signal }) =>
      read<OperatorStep>(runPath(runId, `/steps/${String(step)}`), { signal }),
    enabled: isOpen,
    // Each read of a conversation of others is recorded.
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
      {contents.error !== null && (
        <ProblemNote error={contents.error} what="What this step wrote" />
      )}
      {contents.data !== undefined && <Contents contents={contents.data} />}
    </details>
  );
}

/** Shown as text, whatever the model and tools wrote. */
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

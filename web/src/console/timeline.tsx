import { useState, type ReactElement } from 'react';
import type { OperatorTimeline, TimelineSpan } from '../../../protocol/timeline.js';
import { toWords } from '../../../protocol/to-words.js';
import { formatSpan } from './format-span.js';
import { StepContents } from './step-contents.js';

const STATES: Record<TimelineSpan['state'], string> = {
  open: 'under way',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  cut: 'cut off',
  lost: 'lost, another attempt followed',
};

/** What a run did as bars over its time; each opens what was written, given and returned. */
export function Timeline({ timeline }: { timeline: OperatorTimeline }): ReactElement {
  const { spans, startedAt, now, runId } = timeline;
  const [open, setOpen] = useState<string>();
  const end = timeline.endedAt ?? now;
  const from = Math.min(startedAt, ...spans.map((span) => span.startedAt));
  const whole = Math.max(1, end - from);
  const percent = (ms: number): string => `${String((100 * ms) / whole)}%`;

  return (
    <ol className="timeline" data-testid="timeline" aria-label="What the run did, in order">
      {spans.map((span) => {
        const key = keyOf(span);
        const isOpen = open === key;
        const took = Math.max(0, (span.endedAt ?? now) - span.startedAt);
        return (
          <li
            key={key}
            data-testid="span"
            data-kind={span.kind}
            data-state={span.state}
            data-name={span.name}
            data-ms={took}
          >
            <button
              type="button"
              aria-expanded={isOpen}
              onClick={() => {
                setOpen(isOpen ? undefined : key);
              }}
            >
              <span className="span-name">
                {span.runId !== runId && <span className="soft">{span.agent}: </span>}
                {nameOf(span)}
              </span>
              <span className="span-facts">
                {formatSpan(took)}, {STATES[span.state]}
                {span.by !== undefined && ` by ${span.by}`}
              </span>
              <span className="track" aria-hidden="true">
                <span
                  className="bar"
                  data-kind={span.kind}
                  data-state={span.state}
                  style={{ left: percent(span.startedAt - from), width: percent(took) }}
                />
              </span>
            </button>
            {isOpen && <StepContents span={span} />}
          </li>
        );
      })}
    </ol>
  );
}

function nameOf({ kind, step, name = '' }: TimelineSpan): string {
  if (kind === 'model') return `Model, step ${String(step)}`;
  if (kind === 'wait') return `Waits for a person: ${toWords(name)}`;
  return kind === 'agent' ? `Agent ${name}` : toWords(name);
}

function keyOf({ kind, runId, step, toolCallId = '', startedAt }: TimelineSpan): string {
  return [kind, runId, step, toolCallId, startedAt].join('|');
}

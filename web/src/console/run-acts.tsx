import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import type { OperatorForkReply, OperatorRunDetail } from '../../../protocol/operator.js';
import type { RetryReply, StopReply } from '../../../protocol/replies.js';
import { mayAs, type PageConfig } from '../api-client.js';
import { Choice } from '../choice.js';
import { ConfirmDialog } from './confirm-dialog.js';
import { act, runPath } from './console-api.js';
import { formatPlace } from './place.js';
import { hasEnded } from './status-words.js';
import { goTo } from './use-place.js';

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

interface Props {
  run: OperatorRunDetail;
  roles: PageConfig['roles'];
}

/** The acts that the person may perform on a run; nothing for viewers. */
export function RunActs({ run, roles }: Props): ReactElement | null {
  const [asked, setAsked] = useState<Act>();
  const [step, setStep] = useState<number>();
  const queries = useQueryClient();
  if (!mayAs(roles, 'operator') || run.subAgent === true) return null;

  const isOver = hasEnded(run.status);
  const points = forkPoints(run);
  const from = step ?? points.at(-1) ?? 0;
  const can: Record<Act, boolean> = {
    stop: run.isNewest && !isOver,
    resume: run.isNewest && (run.status === 'interrupted' || run.status === 'failed'),
    retry: run.isNewest && isOver,
    fork: points.length > 0,
  };
  const confirm = async (reason: string | undefined): Promise<void> => {
    const body = { ...(reason !== undefined && { reason }) };
    if (asked === 'stop') await act<StopReply>(runPath(run.runId, '/stop'), body);
    else if (asked === 'fork') {
      const path = runPath(run.runId, '/fork');
      const { runId } = await act<OperatorForkReply>(path, { ...body, step: from });
      goTo(formatPlace({ view: 'runs', item: runId }));
    } else if (asked !== undefined) {
      const { runId } = await act<RetryReply>(runPath(run.runId, `/${asked}`), body);
      goTo(formatPlace({ view: 'runs', item: runId }));
    }
    await queries.invalidateQueries({ queryKey: ['run', run.runId] });
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
            onClick={() => {
              setAsked(name);
            }}
          >
            {TEXTS[name].button}
          </button>
        ))}
      {asked !== undefined && (
        <ConfirmDialog
          title={TEXTS[asked].title}
          verb={TEXTS[asked].verb}
          onConfirm={confirm}
          onClose={() => {
            setAsked(undefined);
          }}
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
              onChoose={(point) => {
                setStep(Number(point));
              }}
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

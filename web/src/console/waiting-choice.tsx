import { Suspense, useState, type ReactElement } from 'react';
import type { OperatorQuestion, OperatorWaitingSession } from '../../../protocol/operator.js';
import { lazyView } from './lazy-view.js';

const ManyDialog = lazyView(async () => (await import('./many-dialog.js')).ManyDialog);

/** A call that can be decided together with others. */
export interface Choice extends Pick<OperatorQuestion, 'toolCallId' | 'toolName' | 'approvalId'> {
  runId: string;
  sessionId: string;
  /** Hash of the input that the page shows. */
  inputHash: string;
  agent: string;
  owner: string;
}

export const keyOf = ({
  runId,
  toolCallId,
  inputHash,
}: Pick<Choice, 'runId' | 'toolCallId' | 'inputHash'>): string =>
  `${runId} ${toolCallId} ${inputHash}`;

/** Client tools' answers differ too much to be given together. Pure. */
export function isChoosable({ kind, mayDecide }: OperatorQuestion): boolean {
  return kind === 'approval' && mayDecide;
}

/** Edited calls are left out: a common decision takes each input as the agent asked for it. Pure. */
export function findChoices(
  sessions: readonly OperatorWaitingSession[],
  changed: ReadonlySet<string>,
): Choice[] {
  return sessions
    .flatMap(({ run: { runId }, sessionId, agent, owner, pending }) =>
      pending.filter(isChoosable).map(({ toolCallId, toolName, approvalId, inputHash }) => ({
        runId,
        sessionId,
        agent,
        owner,
        toolCallId,
        toolName,
        approvalId,
        inputHash,
      })),
    )
    .filter((choice) => !changed.has(keyOf(choice)));
}

interface Props {
  choices: readonly Choice[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

/** Decides several calls of the page together. Its dialog stays open when few or none are left. */
export function WaitingChoice({ choices, chosen, onChoose }: Props): ReactElement {
  const [act, setAct] = useState<'approve' | 'deny'>();
  // Calls that were answered meanwhile drop out.
  const targets = choices.filter((choice) => chosen.has(keyOf(choice)));
  const areAll = targets.length === choices.length;
  return (
    <>
      {choices.length > 1 && (
        <div className="acts" role="group" aria-label="Decide several together">
          <label>
            <input
              type="checkbox"
              data-testid="choose-page"
              checked={areAll}
              onChange={() => onChoose(new Set(areAll ? [] : choices.map(keyOf)))}
            />{' '}
            All on this page
          </label>
          <span data-testid="chosen">{targets.length} chosen</span>
          {(['approve', 'deny'] as const).map((name) => (
            <button
              key={name}
              type="button"
              data-testid={`${name}-chosen`}
              disabled={targets.length === 0}
              onClick={() => setAct(name)}
            >
              {name === 'approve' ? 'Approve them' : 'Deny them'}
            </button>
          ))}
        </div>
      )}
      {act !== undefined && (
        <Suspense>
          <ManyDialog
            act={act}
            of={{ targets }}
            onClose={() => {
              setAct(undefined);
              onChoose(new Set());
            }}
          />
        </Suspense>
      )}
    </>
  );
}

import { useEffect, useState, type ReactElement } from 'react';
import { useCurrentConversation, useQuestion } from './current-conversation.js';
import { formatTimeLeft } from './format-time-left.js';

const TICK_MS = 1_000;

/** How long a question may still be answered, and a button for more time. Nothing before the server names the question. */
export function DeadlineNote({ toolCallId }: { toolCallId: string }): ReactElement | null {
  const { controls } = useCurrentConversation();
  const asked = useQuestion(toolCallId);
  const deadline = asked?.deadline;
  const now = useClock(deadline !== undefined);
  const isOver = deadline !== undefined && deadline <= now;

  if (asked === undefined) return null;
  if (deadline === undefined) {
    return (
      <p className="deadline none" data-testid="no-deadline">
        No deadline: this waits until it is answered.
      </p>
    );
  }
  return (
    <p className="deadline" data-testid="deadline">
      <span role="timer">{isOver ? 'The time is over.' : formatTimeLeft(deadline - now)}</span>
      {!isOver && (
        <button
          type="button"
          className="plain"
          data-testid="extend"
          onClick={() => void controls.extend(asked)}
        >
          10 more minutes
        </button>
      )}
    </p>
  );
}

function useClock(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => {
      setNow(Date.now());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [runs]);
  return now;
}

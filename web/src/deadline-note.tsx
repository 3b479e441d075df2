import { useEffect, useState, type ReactElement } from 'react';
import { useCurrentConversation, useQuestion } from './current-conversation.js';

const DAY_S = 86_400;

/** Formats the time left as a clock, with days from one day on. */
export function formatTimeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const days = Math.floor(seconds / DAY_S);
  const [h, m, s] = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  const clock = h > 0 || days > 0 ? [h, two(m), two(s)] : [m, two(s)];
  const left = clock.join(':');
  return days > 0 ? `${String(days)} days and ${left} left` : `${left} left`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

const TICK_MS = 1_000;

/** Shows the time left and a button for more; nothing until the server sends the question. */
export function DeadlineNote({ toolCallId }: { toolCallId: string }): ReactElement | null {
  const { controls } = useCurrentConversation();
  const asked = useQuestion(toolCallId);
  const deadline = asked?.deadline;
  const now = useClock(deadline === undefined ? undefined : TICK_MS);
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

/** Returns the time, which advances at this interval; it stands still without one. */
export function useClock(everyMs: number | undefined): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
